// Loads the parts of the overview, and adds new records to a table while the reader follows a topic.
// Other pages need no script. The server escapes every value of what is inserted.
const MOST_ROWS = 500;

for (const part of document.querySelectorAll("[data-load]")) {
  fetch(part.dataset.load)
    .then((answer) => answer.text())
    .then((text) => (part.innerHTML = text))
    .catch(() => (part.textContent = "The console does not answer."))
    .finally(() => part.removeAttribute("aria-busy"));
}

for (const button of document.querySelectorAll("[data-follow]")) {
  const state = document.getElementById("follow-state");
  const rows = document.getElementById("records");
  let source = null;

  const stop = (text) => {
    source?.close();
    source = null;
    button.textContent = "Follow new records";
    state.textContent = text;
  };

  button.addEventListener("click", () => {
    if (source) {
      stop("Stopped.");
      return;
    }
    source = new EventSource(button.dataset.follow);
    button.textContent = "Stop";
    state.textContent = "Waiting for new records.";
    source.addEventListener("message", (event) => {
      rows.insertAdjacentHTML("afterbegin", JSON.parse(event.data));
      while (rows.rows.length > MOST_ROWS) rows.lastElementChild.remove();
      state.textContent = "New records come first.";
    });
    source.addEventListener("end", (event) => stop(`Ended. ${JSON.parse(event.data)}`));
    source.addEventListener("error", () => stop("The console does not answer."));
  });
}
