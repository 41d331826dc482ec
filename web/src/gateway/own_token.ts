// A token of this browser's own, in place of one that was typed in or that a link brought.

import { ApiError } from "./api_error";
import { api, bearer, given, type Schemas } from "./client";

const LIFETIME_SECONDS = 30 * 86_400;
const MAKES_TOKENS = "manage";

export interface OwnToken {
  token: string;
  // Empty if it is not this browser's own, and may be in use elsewhere.
  id: string;
}

// A token with the scopes of the offered one, which the list of tokens shows by this browser's name; or the offered one
// itself if that may make none.
export async function ownToken(offered: string, me: Schemas["Me"]): Promise<OwnToken> {
  if (!me.scopes.includes(MAKES_TOKENS)) return { token: offered, id: "" };
  const latest = new Date(Date.now() + LIFETIME_SECONDS * 1000).toISOString();
  // It lasts no longer than the one that makes it.
  const isShort = me.expire_time !== null && Date.parse(me.expire_time) < Date.parse(latest);
  const body = { name: browserName(navigator.userAgent), expire_time: isShort ? me.expire_time : latest };
  try {
    return await given(api.POST("/api/v1/tokens", { body, ...bearer(offered) }));
  } catch (error) {
    // Its user may have no more of them.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return { token: offered, id: "" };
    throw error;
  }
}

export function browserName(userAgent: string): string {
  const browsers = [
    ["Edg/", "Edge"],
    ["OPR/", "Opera"],
    ["Firefox/", "Firefox"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
  ];
  const systems = [
    ["Android", "Android"],
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Windows", "Windows"],
    ["Mac OS", "macOS"],
    ["CrOS", "ChromeOS"],
    ["Linux", "Linux"],
  ];
  const named = (table: string[][], other: string) =>
    table.find(([mark = ""]) => userAgent.includes(mark))?.[1] ?? other;
  return `${named(browsers, "A browser")} on ${named(systems, "another system")}`;
}
