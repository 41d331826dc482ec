// What the page reads of the gateway, kept so that each is asked for once.

import { infiniteQueryOptions, keepPreviousData, QueryCache, QueryClient, queryOptions } from "@tanstack/preact-query";
import { alert, showFailure } from "../page/alert";
import { type Form, quoteQuery } from "../request/form";
import type { ListQuery } from "../submissions/list_choice";
import { ApiError } from "./api_error";
import { api, given, type Schemas } from "./client";
import type { operations } from "./types";

const RECENT = 50;
const NEWEST = 10;
// What helps if it is there; if not, nothing is said.
export const ASIDE = { isAside: true };
// What an address names. That it is not there, the page says itself.
const NAMED = { isNamed: true };

// Of the read whose failure is shown.
let failed = "";

export const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { meta, queryHash }) => {
      const isMissing = error instanceof ApiError && error.status === 404;
      if (meta === ASIDE || (meta === NAMED && isMissing)) return;
      failed = queryHash;
      showFailure(error);
    },
    onSuccess: (_, { queryHash }) => {
      if (queryHash === failed) alert.value = null;
    },
  }),
  // Whoever asks is told at once; a request that a change of the network drops was repeated already.
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false } },
});

// How people sign in, and what they may read before.
export const signInOptions = queryOptions({
  queryKey: ["sign-in"],
  queryFn: () => given(api.GET("/api/v1/sign-in")),
  staleTime: Number.POSITIVE_INFINITY,
  meta: ASIDE,
});

export const me = queryOptions({ queryKey: ["me"], queryFn: () => given(api.GET("/api/v1/me")) });

export const costs = queryOptions({
  queryKey: ["costs"],
  queryFn: () => given(api.GET("/api/v1/costs", { params: { query: { page_size: 1 } } })),
});

export const limits = queryOptions({ queryKey: ["limits"], queryFn: () => given(api.GET("/api/v1/limits")) });

// The device without a GPU. It has no price and cannot be asked for, so it is not among the GPU types.
export const CPU = "cpu";

// What may be asked for; the first is the default.
export const gpuTypes = queryOptions({
  queryKey: ["gpu-types"],
  queryFn: async () => (await given(api.GET("/api/v1/gpu-types"))).gpu_types.map(({ gpu_type: type }) => type),
  staleTime: Number.POSITIVE_INFINITY,
});

export const problems = queryOptions({
  queryKey: ["problems"],
  queryFn: () => given(api.GET("/api/v1/problems")),
  staleTime: Number.POSITIVE_INFINITY,
});

// With what this user and all have reached; until the answer to a new choice is there, that to the one before stays.
export function reachedIn(gpuType: string, dtype: string) {
  return queryOptions({
    queryKey: ["problems", gpuType, dtype],
    queryFn: () => given(api.GET("/api/v1/problems", { params: { query: { gpu_type: gpuType, dtype } } })),
    placeholderData: keepPreviousData,
  });
}

// Its cases are those of the default GPU type if none is named.
export function problem(slug: string, dtype: string, gpuType = "") {
  return queryOptions({
    meta: NAMED,
    queryKey: ["problem", slug, dtype, gpuType],
    queryFn: () =>
      given(api.GET("/api/v1/problems/{slug}", { params: { path: { slug }, query: { dtype, gpu_type: gpuType } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

// How another account's was to run is its owner's business.
export type AnySubmission =
  | Schemas["SubmissionDetail"]
  | (Schemas["SharedSubmission"] & { fallback_gpu_types: string[]; resources: null });

export function isOwn(
  one: Schemas["SubmissionDetail"] | Schemas["SharedSubmission"],
): one is Schemas["SubmissionDetail"] {
  return Boolean(one.own);
}

export function submission(id: string) {
  return queryOptions({
    meta: NAMED,
    queryKey: ["submission", id],
    queryFn: async (): Promise<AnySubmission> => {
      const path = { submission_id: id };
      const found = await given(api.GET("/api/v1/submissions/{submission_id}", { params: { path } }));
      // No page shows an operator what concerns the pool alone; `wavepool jobs --everybody` and `wavepool why` do.
      if ("overseen" in found) throw new ApiError(404, "It is of another account, and not shared with you.");
      return isOwn(found) ? found : { ...found, fallback_gpu_types: [], resources: null };
    },
  });
}

// The instructions of a submission that was compiled.
export function isa(id: string) {
  const path = { submission_id: id };
  return queryOptions({
    meta: NAMED,
    queryKey: ["isa", id],
    queryFn: () => given(api.GET("/api/v1/submissions/{submission_id}/isa", { params: { path } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

// Which of two submissions is faster, or why they cannot be compared.
export function comparison(base: string, other: string) {
  return queryOptions({
    queryKey: ["comparison", base, other],
    queryFn: async (): Promise<Schemas["Comparison"] | { refused: string }> => {
      try {
        return await given(api.GET("/api/v1/comparisons", { params: { query: { base, other } } }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return { refused: error.message };
        throw error;
      }
    },
  });
}

export const SUBMISSIONS = ["submissions"];

export const newestSubmissions = queryOptions({
  queryKey: [...SUBMISSIONS, NEWEST],
  queryFn: () => given(api.GET("/api/v1/submissions", { params: { query: { page_size: NEWEST } } })),
});

// All that fit, page by page.
export function pagesOfSubmissions(query: ListQuery) {
  return infiniteQueryOptions({
    queryKey: [...SUBMISSIONS, query],
    queryFn: ({ pageParam }) =>
      given(
        api.GET("/api/v1/submissions", { params: { query: { ...query, page_size: RECENT, page_token: pageParam } } }),
      ),
    initialPageParam: "",
    getNextPageParam: ({ next_page_token: next }) => next || null,
    placeholderData: keepPreviousData,
  });
}

export type RankingQuery = operations["list_rankings"]["parameters"]["query"];

export function ranking(query: RankingQuery) {
  return queryOptions({
    meta: NAMED,
    queryKey: ["ranking", query],
    queryFn: () => given(api.GET("/api/v1/rankings", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

// How the record of a problem changed.
export function records(query: RankingQuery) {
  return queryOptions({
    meta: NAMED,
    queryKey: ["records", query],
    queryFn: () => given(api.GET("/api/v1/rankings/history", { params: { query } })),
    placeholderData: keepPreviousData,
  });
}

// Null: there is no such user, or nobody else is to see the profile.
export function profile(name: string) {
  return queryOptions({
    queryKey: ["profile", name],
    queryFn: async (): Promise<Schemas["UserProfile"] | null> => {
      try {
        return await given(api.GET("/api/v1/users/{user}/profile", { params: { path: { user: name } } }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
}

// Whether others see this user's.
export const profileSetting = queryOptions({
  queryKey: ["profile-setting"],
  queryFn: () => given(api.GET("/api/v1/me/profile")),
});

// The newest of this user's.
export function submissionsOf(problem: string) {
  return queryOptions({
    queryKey: [...SUBMISSIONS, problem],
    queryFn: () => given(api.GET("/api/v1/submissions", { params: { query: { page_size: RECENT, problem } } })),
  });
}

// The newest whole programs of this user.
export const programs = queryOptions({
  // Like those of one problem, by its name: a program has none.
  queryKey: [...SUBMISSIONS, ""],
  queryFn: () => given(api.GET("/api/v1/submissions", { params: { query: { page_size: NEWEST, mode: ["sandbox"] } } })),
});

// Those of this user that were timed in the same way, the fastest first. Why there are none is said where they are shown.
export function comparableTo(id: string) {
  return queryOptions({
    queryKey: [...SUBMISSIONS, { comparableTo: id }],
    queryFn: () =>
      given(
        api.GET("/api/v1/submissions", {
          params: { query: { page_size: RECENT, comparable_to: id, sort: "fastest" } },
        }),
      ),
    meta: ASIDE,
  });
}

// Lists of submissions move on by themselves, and so does the credit. Null: any may have changed.
export function noteSubmission(changed: Schemas["Submission"] | null): void {
  for (const [queryKey, list] of queries.getQueriesData<Schemas["SubmissionPage"]>({ queryKey: SUBMISSIONS })) {
    const [, kind] = queryKey;
    // One that is filtered by more than the problem may have to lose it now.
    const isWhole = typeof kind !== "object";
    if (isWhole && changed && list?.submissions.some(({ id }) => id === changed.id)) {
      const submissions = list.submissions.map((before) => (before.id === changed.id ? changed : before));
      queries.setQueryData(queryKey, { ...list, submissions });
    } else if (!changed || typeof kind !== "string" || kind === changed.problem)
      void queries.invalidateQueries({ queryKey, exact: true });
  }
  if (!changed || changed.end_time) void queries.invalidateQueries(costs);
}

// The most that what is chosen costs.
export function quote(form: Form) {
  const query = quoteQuery(form);
  return queryOptions({
    queryKey: ["quote", query],
    queryFn: () => given(api.GET("/api/v1/quote", { params: { query } })),
    enabled: form.gpuType !== "",
    meta: ASIDE,
  });
}

// What the pool has of each GPU type.
export const availability = queryOptions({
  queryKey: ["availability"],
  queryFn: async () => (await given(api.GET("/api/v1/availability"))).gpu_types,
  staleTime: 60_000,
  meta: ASIDE,
});

const WHY_EVERY_MS = 5000;

// Why a submission waits.
export function why(id: string, isAsked: boolean) {
  return queryOptions({
    queryKey: ["why", id],
    queryFn: () => {
      const params = { path: { submission_id: id }, query: { machines: 0 } };
      return given(api.GET("/api/v1/submissions/{submission_id}/why", { params }));
    },
    enabled: isAsked,
    refetchInterval: WHY_EVERY_MS,
    meta: ASIDE,
  });
}
