export function ScenarioPanel() {
  return null;
}
