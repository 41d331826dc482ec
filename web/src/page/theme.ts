// Light or dark: the system's choice until this browser's user makes one.

import { rememberTheme, theme } from "./store";

export function applyTheme(): void {
  const chosen = theme();
  if (chosen) document.documentElement.dataset.theme = chosen;
}

export function switchTheme(): void {
  const { theme: chosen } = document.documentElement.dataset;
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  rememberTheme(isDark ? "light" : "dark");
  applyTheme();
}
