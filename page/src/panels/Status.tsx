/** One line that says what is going on; also read aloud. */

import { figure, useApp, useClock, useSession, useTime } from "./context";

export function Status() {
  const session = useSession();
  const notice = useApp((app) => app.notice);
  const offline = useApp((app) => app.offline);
  const lanes = useApp((app) => app.lanes);
  const asking = useApp((app) => app.asking);
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
      {failed && (
        <p class="error" role="alert">
          {failed.message}
        </p>
      )}
      <p aria-live="polite" class={notice?.kind === "error" ? "said error" : "said"}>
        {notice?.text ?? <LastLook />}
        {asking ? <span class="dim asking"> Asking the server…</span> : busy && <Progress job={busy.job} />}
        {notice && (
          <button class="quiet" onClick={() => session.quiet()} aria-label="Dismiss">
            ×
          </button>
        )}
      </p>
    </div>
  );
}

/** While time stands still: who looked last, and what it saw. */
function LastLook() {
  const session = useSession();
  const { playing } = useClock();
  useTime(2);
  const lane = session.store.get().lanes[0];
  const place = lane?.timeline.locate(session.clock.t, session.jumpOf(lane));
  if (playing || !place || place.jump < 1) return null;
  const { arc, offset } = place.piece;
  const { events, dimension: n } = arc;
  const row = place.jump - 1;
  const agent = events.agent[row];
  if (arc.lives && arc.lives.departures[agent] <= events.time[row])
    return (
      <span class="dim">
        Agent {agent} left at t = {(offset + events.time[row]).toFixed(3)}.
      </span>
    );
  const error = Math.hypot(...events.errors.subarray(row * n, row * n + n));
  const looked = !events.looked || events.looked[row] > 0;
  const did = looked ? "looked" : "chose its course anew, by what it has heard of the others,";
  return (
    <span class="dim">
      Agent {agent} {did} at t = {(offset + events.time[row]).toFixed(3)}: its centroid was {figure(error, 3)}{" "}
      away
      {Number.isFinite(events.nextAt[row])
        ? `; it ${looked ? "looks again" : "does so again"} at ${(offset + events.nextAt[row]).toFixed(3)}.`
        : "."}
    </span>
  );
}

function Progress({
  job,
}: {
  job: { status: string; position: number; progress: number; doing: string } | null;
}) {
  if (!job) return null;
  if (job.status === "queued") return <span class="dim"> Waiting: place {job.position} in the queue.</span>;
  return (
    <span class="dim">
      {" "}
      {job.doing === "preparing"
        ? "preparing; the first run of a kind compiles for up to a minute"
        : job.doing}{" "}
      <progress max={1} value={job.progress} aria-label="Progress of the run" />
    </span>
  );
}
