/** Over the map: what is waited for before anything can move on it. */

import { useApp } from "./context";

export function Pending() {
  const loading = useApp((app) => (!app.scenario && !app.offline) || app.opening);
  const warming = useApp((app) => app.lanes.some((lane) => lane.job?.status === "warming" && !lane.lost));
  const requested = useApp((app) => app.asking);
  useApp((app) => app.laneVersion);
  if (!loading && !warming) return null;
  return (
    <div class="pending">
      <div role="status">
        {warming ? (
          <>
            <b>Compiling for this kind of run</b>
            <br />
            First time only; it usually takes less than a minute.
          </>
        ) : (
          <b>{requested ? "The run begins when the scenario is loaded." : "The scenario is being loaded."}</b>
        )}
        <progress aria-label={warming ? "Compiling" : "Loading"} />
      </div>
    </div>
  );
}
