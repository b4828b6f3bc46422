"use strict";
const program = programOf("hearFiles");
let worker = null;

function say(text, kind = "") {
  part("said").textContent = text;
  part("said").className = `said ${kind}`;
}

function run(name, bytes) {
  worker?.terminate();
  worker = new Worker(program);
  const begin = performance.now();
  const seconds = () => ((performance.now() - begin) / 1000).toFixed(1);
  part("rules").textContent = "";
  part("progress").value = 0;
  part("check").disabled = true;
  say(`${name}: reading ...`);
  const end = (text, kind) => {
    say(text, kind);
    part("check").disabled = false;
    part("progress").value = kind === "proven" ? 3 : 0;
  };
  worker.onmessage = ({ data }) => {
    if (data.rules) part("rules").textContent = `The rules that it is for: ${data.rules.join("; ")}.`;
    else if (data.proven) end(`proven: ${data.proven}\n(${name}, ${seconds()} seconds)`, "proven");
    else if (data.refused) end(`refused: ${data.refused}`, "refused");
    else if (data.stage === "read") {
      part("progress").value = data.line / data.lines;
      say(`${name}: line ${data.line} of ${data.lines}`);
    } else {
      part("progress").value = 1 + data.player + data.visited / (data.visited + 20000);
      say(`${name}: best response of player ${data.player}, ${data.visited.toLocaleString("en")} infosets visited`);
    }
  };
  worker.onerror = (event) => end(`The checker stopped: ${event.message}`, "refused");
  worker.postMessage(bytes);
}

for (const name of Object.keys(CERTIFICATES)) part("choice").add(new Option(name));
part("check").onclick = () => run(part("choice").value, bytesOf(CERTIFICATES[part("choice").value]));
part("file").onchange = async () => {
  const [file] = part("file").files;
  if (file) run(file.name, new Uint8Array(await file.arrayBuffer()));
};
