/** Files that are dropped on the page or chosen; what reads them is fetched with the first one. */

import type { Session } from "../state/session";

/** Open a file. */
export async function openLater(session: Session, file: File): Promise<void> {
  try {
    await (await import("./files")).openFile(session, file);
  } catch (error) {
    session.fail(error);
  }
}

/** Files may be dropped anywhere on the page. */
export function listenToDrops(session: Session): () => void {
  const over = (e: DragEvent): void => {
    if (e.dataTransfer?.types.includes("Files")) e.preventDefault();
  };
  const drop = (e: DragEvent): void => {
    const file = e.dataTransfer?.files[0];
    if (!file) return;
    e.preventDefault();
    void openLater(session, file);
  };
  addEventListener("dragover", over);
  addEventListener("drop", drop);
  return () => {
    removeEventListener("dragover", over);
    removeEventListener("drop", drop);
  };
}
