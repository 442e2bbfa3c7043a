// A game server that says so many lines a second, as one does whose bundles talk: `node flooding-server.ts LINES_A_SECOND`.
const linesPerSecond = Number(process.argv[2] ?? '2000');
const TICK_MS = 10;
const began = performance.now();
let said = 0;

setInterval(() => {
  const due = Math.floor(((performance.now() - began) / 1000) * linesPerSecond);
  let text = '';
  for (; said < due; said += 1) {
    text += `[bundle_${said % 20}] \x1b[32mplayer ${said % 128}\x1b[0m moved to ${said * 7}.25, ${said * 3}.5, 31.0 in dimension ${said % 4} (tick ${said})\n`;
  }
  process.stdout.write(text);
}, TICK_MS);
process.stdin.on('end', () => process.exit()).resume();
