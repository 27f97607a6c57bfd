/** Code that draws workspaces of other than two dimensions, fetched when one is first shown. */

/** A function that returns the code, or null as long as it is not there; `came` is called when it is. */
function fetched<Code>(load: () => Promise<Code>) {
  let code: Code | null = null;
  let begun = false;
  return (came: () => void, failed: (error: unknown) => void): Code | null => {
    if (!begun) {
      begun = true;
      load()
        .then((found) => {
          code = found;
          came();
        })
        .catch(failed);
    }
    return code;
  };
}

export const lineCode = fetched(() => import("../../map/line"));
export const spaceCode = fetched(() => import("../../space/space"));
