/** The code that draws space, which is fetched when a workspace of three dimensions is first shown. */

type SpaceCode = typeof import("../../space/space");

let code: SpaceCode | null = null;
let asked = false;

/** The code, or null as long as it is not there; `came` is called when it is. */
export function spaceCode(came: () => void, failed: (error: unknown) => void): SpaceCode | null {
  if (!asked) {
    asked = true;
    import("../../space/space")
      .then((found) => {
        code = found;
        came();
      })
      .catch(failed);
  }
  return code;
}
