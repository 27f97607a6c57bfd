/** One line that says what is going on; also read aloud. */

import { useApp, useSession } from "./context";

export function Status() {
  const session = useSession();
  const notice = useApp((app) => app.notice);
  const offline = useApp((app) => app.offline);
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.word);
  const lost = offline || lanes.some((lane) => lane.lost);
  const failed = lanes.find((lane) => lane.problem)?.problem;
  const busy = lanes.find((lane) => lane.working && lane.job);
  return (
    <div class="status">
      {lost && (
        <p class="lost" role="alert">
          Connection lost. What was received stays; trying to reach the server again…
        </p>
      )}
      <p aria-live="polite" class={failed || notice?.kind === "error" ? "said error" : "said"}>
        {failed?.message ?? notice?.text ?? ""}
        {busy && <Progress job={busy.job} />}
        {notice && !failed && (
          <button class="quiet" onClick={() => session.quiet()} aria-label="Dismiss">
            ×
          </button>
        )}
      </p>
    </div>
  );
}

function Progress({ job }: { job: { status: string; position: number; progress: number; doing: string } | null }) {
  if (!job) return null;
  if (job.status === "queued") return <span class="dim"> Waiting: place {job.position} in the queue.</span>;
  return (
    <span class="dim">
      {" "}
      {job.doing === "preparing" ? "preparing; the first run of a kind compiles for up to a minute" : job.doing} <progress max={1} value={job.progress} aria-label="Progress of the run" />
    </span>
  );
}
