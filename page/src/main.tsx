import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./panels/App";
import { SessionContext } from "./panels/context";
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
// For tests, and for whoever is curious in the console.
Object.assign(globalThis, { dwellPage: session });
void session.begin();
