export const REST = 300; // milliseconds

/**
 * A debounced value: what was dragged stands until it is sent, `REST` after the last change; answers
 * that come later than another change are ignored.
 */
export class Held<T> {
  private moved: { readonly value: T; sent: boolean } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly send: (value: T) => Promise<unknown>,
    private readonly changed: () => void,
  ) {}

  /** Where the hand has put it; null when nothing is held. */
  get value(): T | null {
    return this.moved?.value ?? null;
  }

  move(value: T): void {
    this.moved = { value, sent: false };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.flush(), REST);
    this.changed();
  }

  /** Send it now, if it was not. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    const { moved } = this;
    if (!moved || moved.sent) return;
    moved.sent = true;
    await this.send(moved.value);
    if (this.moved !== moved) return; // it was moved again meanwhile
    this.moved = null;
    this.changed();
  }
}
