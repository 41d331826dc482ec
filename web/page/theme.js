// Light or dark: the system's choice until this browser's user makes one.

import { rememberTheme, theme } from "./session.js";

export function applyTheme() {
  const chosen = theme();
  if (chosen) document.documentElement.dataset.theme = chosen;
}

export function switchTheme() {
  const isDark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  rememberTheme(isDark ? "light" : "dark");
  applyTheme();
}
