"use strict";
// Whether a file proves its claim.

// What is proven: an interval, or the value and its first digits.
function told(lower, upper) {
  if (lower !== upper) return `${lower} <= value <= ${upper}`;
  const [above, below = 1n] = lower.split("/").map(BigInt);
  if (below === 1n) return `value = ${lower}`;
  const digits = ((above < 0n ? -above : above) * 10n ** 15n) / below;
  return `value = ${lower} = ${above < 0n ? "-" : ""}0.${digits.toString().padStart(15, "0")}...`;
}

// Messages say how far it is; the last one is {proven} or {refused}.
async function check(bytes, tell) {
  try {
    const certificate = new Certificate(await unzipped(bytes), (line, lines) => tell({ stage: "read", line, lines }));
    tell({ rules: certificate.lines.slice(1, 5) });
    const amounts = [0, 1].map((player) => {
      const response = new BestResponse(certificate, player, (visited) => tell({ stage: "respond", player, visited }));
      return response.amount();
    });
    const lower = fractionText(inLowestTerms(-amounts[1], certificate.plans[0].weight));
    const upper = fractionText(inLowestTerms(amounts[0], certificate.plans[1].weight));
    const proven = `${lower} <= value <= ${upper}`;
    if (proven !== certificate.claim) throw new Refused(`line 6: the plans prove ${proven}, not this claim`);
    tell({ proven: told(lower, upper) });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell({ refused: error.message });
  }
}

// For workers: a message is the bytes of a file.  Errors of the program are heard by the page.
function hearFiles() {
  onmessage = (event) => check(event.data, postMessage).catch((error) => setTimeout(() => { throw error; }));
}
