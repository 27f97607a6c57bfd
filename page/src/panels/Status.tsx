/** One line that says what is going on; also read aloud. It grows over the map, so that nothing moves. */

import { isUnderWay, type Job } from "../net/api";
import { hintOf } from "../state/hints";
import { figure, useApp, useClock, useSession, useTime } from "./context";
import "./status.css";

export function Status() {
  const session = useSession();
  const notice = useApp((app) => app.notice);
  const lost = useApp((app) => app.offline || app.lanes.some((lane) => lane.lost));
  const lanes = useApp((app) => app.lanes);
  useApp((app) => app.laneVersion);
  const failed = lanes.find((lane) => lane.problem)?.problem;
  const said = notice && notice.kind !== "hint" ? notice : null;
  return (
    <div class="status">
      <div class="status-box">
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
        <p aria-live="polite" class={said?.kind === "error" ? "said error" : "said"}>
          {said ? said.text : <LastSample />}
          {!lost && <Work />}
          {said && (
            <button class="quiet" onClick={() => session.quiet()} aria-label="Dismiss">
              ×
            </button>
          )}
        </p>
      </div>
    </div>
  );
}

/** What the server does for the page; nothing is known of it while the connection is lost. */
function Work() {
  const asking = useApp((app) => app.asking);
  const busy = useApp((app) => app.lanes.find((lane) => isUnderWay(lane.job)));
  useApp((app) => app.laneVersion);
  if (asking) return <span class="dim asking"> Asking the server…</span>;
  return busy?.job ? <Progress job={busy.job} /> : null;
}

/** While time stands still: who sampled last, and what it found; else what can be done. */
function LastSample() {
  const session = useSession();
  const { playing } = useClock();
  const tool = useApp((app) => app.tool);
  const hinted = useApp((app) => app.notice?.kind === "hint");
  const recorded = useApp((app) => app.lanes.some((lane) => lane.recorded));
  useTime(2);
  const lane = session.store.get().lanes[0];
  const place = lane?.timeline.locate(session.clock.t, session.jumpOf(lane));
  if (playing || !place || place.jump < 1)
    return hinted ? (
      <>
        {recorded && "A recorded run. "}
        {hintOf(tool, session)}
      </>
    ) : null;
  const { arc, offset } = place.piece;
  const { events, dimension: n } = arc;
  const row = place.jump - 1;
  const agent = events.agent[row];
  const at = (offset + events.time[row]).toFixed(3);
  if (arc.lives && arc.lives.departures[agent] <= events.time[row])
    return (
      <span class="dim">
        Agent {agent} left at t = {at}.
      </span>
    );
  const error = Math.hypot(...events.errors.subarray(row * n, row * n + n));
  const sampled = !events.sampled || events.sampled[row] > 0;
  const did = sampled ? "sampled" : "chose its velocity anew, from the broadcasts of the others,";
  const next = events.nextAt[row];
  return (
    <span class="dim">
      Agent {agent} {did} at t = {at}: its centroid was {figure(error, 3)} away
      {Number.isFinite(next)
        ? `; it ${sampled ? "samples again" : "does so again"} at ${(offset + next).toFixed(3)}.`
        : "."}
    </span>
  );
}

function Progress({ job }: { job: Job }) {
  if (job.status === "warming")
    return (
      <span class="dim">
        {" "}
        Compiling, first time only <progress aria-label="Compiling" />
      </span>
    );
  if (job.status === "queued") return <span class="dim"> Waiting: place {job.position} in the queue.</span>;
  return (
    <span class="dim">
      {" "}
      {job.doing} <progress max={1} value={job.progress} aria-label="Progress of the run" />
    </span>
  );
}
