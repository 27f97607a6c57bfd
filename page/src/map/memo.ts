/** Whether two lists have the same entries. */
export const isSame = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((one, k) => one === b[k]);

/** A value that is kept as long as all that it depends on, its key, stays the same. */
export class Memo<Value> {
  private kept: { readonly key: readonly unknown[]; readonly value: Value } | null = null;

  get(key: readonly unknown[], make: () => Value): Value {
    if (!this.kept || !isSame(key, this.kept.key)) this.kept = { key, value: make() };
    return this.kept.value;
  }
}
