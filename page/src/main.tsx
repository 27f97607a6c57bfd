import { render } from "preact";
import "./style.css";
import { App } from "./panels/App";
import { expose } from "./panels/console";
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
expose(session);
void session.begin();
