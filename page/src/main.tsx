import { render } from "preact";
import "./style.css";
import { App } from "./panels/App";
import { SessionContext } from "./panels/context";
import { maps } from "./panels/map/exports";
import { Session } from "./state/session";

const session = new Session();
const page = document.getElementById("page") as HTMLElement;
page.textContent = "";
render(
  <SessionContext.Provider value={session}>
    <App />
  </SessionContext.Provider>,
  page,
);
// For tests and for the console.
const { store, clock } = session;
Object.assign(globalThis, {
  dwellPage: {
    session,
    store,
    clock,
    get maps() {
      return [...maps];
    },
  },
});
void session.begin();
