// The page of a user: what they solved, when they submitted, and what they made public.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import { api, given, type Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { useAction } from "../page/action";
import { submissionAddress } from "../page/addresses";
import { ago, count } from "../page/format";
import { NotFound } from "../page/not_found";
import { Table } from "../page/table";
import { pages } from "../pages";
import { difficultyName } from "../problems/choice";
import { listedMean } from "../run/case_times";
import { Badge } from "../run/history";
import { calendarOf } from "./calendar";

type Profile = Schemas["UserProfile"];

const SOLVED = [{ title: "Difficulty" }, { title: "Solved", class: "number" }, { title: "Of", class: "number" }];
const DAYS = [{ title: "Day (UTC)" }, { title: "Submissions", class: "number" }];
const PUBLIC = [
  { title: "Submission" },
  { title: "Mode" },
  { title: "Result" },
  { title: "Time", class: "number" },
  { title: "On" },
  { title: "When", class: "number" },
];

export default function ProfilePage({ name }: { name: string }) {
  const { data: profile, error } = useQuery(queries.profile(name));
  const user = useQuery(queries.me).data?.user_name;
  if (profile === null)
    return (
      <NotFound what={`There is no user ${name}, or they have switched their profile off.`}>
        <Link href={pages.leaderboard}>Go to the leaderboard</Link>
      </NotFound>
    );
  if (!profile) return <main class="page" aria-busy={!error} />;
  const isOwn = profile.name === user;
  return (
    <main class="page profile-page">
      <div class="page-head">
        <h1>{profile.name}</h1>
      </div>
      {isOwn ? <Setting /> : null}
      <section class="card">
        <h2>Solved</h2>
        <Table
          caption="Solved problems by difficulty"
          columns={SOLVED}
          rows={profile.solved.map(({ difficulty, solved, problems }) => [
            difficultyName(difficulty),
            count(solved),
            count(problems),
          ])}
        />
      </section>
      <Days days={profile.days} />
      <section class="card">
        <h2>Public submissions</h2>
        <Submissions submissions={profile.public_submissions} isOwn={isOwn} />
      </section>
    </main>
  );
}

// Whether others see it; a refusal is shown beside it, and changes nothing.
function Setting() {
  const setting = useQuery(queries.profileSetting).data?.profile;
  const { refusal, act: choose } = useAction(async (profile: "public" | "off") => {
    const chosen = await given(api.PATCH("/api/v1/me/profile", { body: { profile } }));
    queries.queries.setQueryData(queries.profileSetting.queryKey, chosen);
  });
  if (setting === undefined) return null;

  return (
    <section class="card">
      <label>
        <input
          id="profile-switch"
          type="checkbox"
          checked={setting === "public"}
          onChange={({ currentTarget }) => {
            const wanted = currentTarget.checked ? "public" : "off";
            // It shows what is so, and moves when the gateway has taken the choice.
            currentTarget.checked = setting === "public";
            void choose(wanted);
          }}
        />{" "}
        Others see this page
      </label>
      <p class="hint" role="status">
        {SEEN_BY[setting] ?? `Who sees it: ${setting}.`}
      </p>
      <p class="field-error" role="alert" hidden={!refusal}>
        {refusal}
      </p>
    </section>
  );
}

const SEEN_BY: Record<string, string> = {
  public: "Every signed-in user sees it.",
  off: "Only you see it. Rankings still have your name and your times.",
};

function Days({ days }: { days: Profile["days"] }) {
  const all = days.reduce((sum, { submissions }) => sum + submissions, 0);
  const { width, height, levels, months } = calendarOf(days, Date.now());
  const told = `${count(all)} ${all === 1 ? "submission" : "submissions"} on ${count(days.length)} ${days.length === 1 ? "day" : "days"} of the last year`;
  return (
    <section class="card">
      <h2>Days with submissions</h2>
      <p class="hint">{told}</p>
      <svg
        class="calendar"
        viewBox={`0 -20 ${width} ${height + 20}`}
        role="img"
        aria-label={`${told}; the table is below`}
      >
        {months.map(({ x, name }) => (
          <text key={x} x={x} y={-4}>
            {name}
          </text>
        ))}
        {levels.map((path, level) => (
          <path class={`level-${level}`} key={level} d={path} />
        ))}
      </svg>
      {days.length ? (
        <details>
          <summary>
            Numbers<span class="visually-hidden"> of the days with submissions</span>
          </summary>
          <Table
            caption="Days with submissions, newest first"
            columns={DAYS}
            rows={days.map(({ date, submissions }) => [date, count(submissions)]).reverse()}
          />
        </details>
      ) : null}
    </section>
  );
}

function Submissions({ submissions, isOwn }: { submissions: Profile["public_submissions"]; isOwn: boolean }) {
  if (!submissions.length)
    return (
      <p class="empty">
        {isOwn ? (
          <>
            You have made nothing public. <Link href={pages.submissions}>Your submissions</Link> say who sees each of
            them; choose “everybody” there.
          </>
        ) : (
          "Nothing is public yet."
        )}
      </p>
    );
  return <Table caption="Public submissions, newest first" columns={PUBLIC} rows={submissions.map(cells)} />;
}

function cells(one: Schemas["PublicSubmission"]) {
  return [
    <Link key="link" href={submissionAddress(one.id)}>
      {one.problem || one.name || "sandbox program"}
      {one.problem && one.name ? <span class="hint"> {one.name}</span> : null}
      <span class="visually-hidden">, {one.id}</span>
    </Link>,
    one.mode,
    <Badge key="badge" {...one} />,
    listedMean(one),
    [one.gpu_type, one.dtype].filter(Boolean).join(", "),
    ago(one.create_time),
  ];
}
