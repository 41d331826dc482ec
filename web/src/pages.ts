// The addresses of pages. The build writes them for the gateway, which answers them with the application.

export const pages = {
  home: "/",
  problems: "/problems",
  problem: "/problems/:slug",
  leaderboard: "/leaderboard",
  problemLeaderboard: "/problems/:slug/leaderboard",
  sandbox: "/sandbox",
  submissions: "/submissions",
  submission: "/submissions/:id",
  user: "/users/:name",
  compare: "/compare",
  documentation: "/api/docs",
} as const;
