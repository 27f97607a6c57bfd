export function Design() {
  return null;
}
