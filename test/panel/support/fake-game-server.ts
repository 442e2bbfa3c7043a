// A game server that misbehaves on demand. Options: --ignore-stop, --ignore-sigterm, --grandchild (one that outlives it),
// --stubborn-grandchild (and ignores SIGTERM), --escaped-grandchild (of a group of its own, with our output), --crash-at-start,
// --silent, --ticks MS (a numbered line each time), --bytes HEX, --http PORT (as FXServer answers there). Lines on its input: quit, crash CODE, kill, flood COUNT,
// env, hang, load NAME (runs the lines of bundles/NAME/on-load.txt); others are answered.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const options = new Set(process.argv.slice(2));
const say = (text: string): boolean => process.stdout.write(`${text}\n`);

function startGrandchild(isStubborn: boolean): void {
  const script = `${isStubborn ? "process.on('SIGTERM', () => {});" : ''} setInterval(() => {}, 1e6); console.log('up')`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  child.stdout.once('data', () => say(`grandchild ${child.pid}`));
}

function startEscapedGrandchild(): void {
  const script = 'setInterval(() => {}, 1e6)';
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
  say(`escaped ${child.pid}`);
}

/** Few servers do so, and `node:http` takes half of the processor time of a start. */
async function answerAsFxServer(port: number): Promise<void> {
  const { createServer } = await import('node:http');
  const answers: Record<string, unknown> = {
    '/info.json': { resources: ['chat', 'db_connector', 7], server: 'FXServer-no-version' },
    '/players.json': [{ id: 1, name: '<script>alert(1)</script>' }],
  };
  const server = createServer((request, response) => response.end(JSON.stringify(answers[request.url ?? ''])));
  server.listen(port, '127.0.0.1');
}

function flood(count: number): void {
  let lines = '';
  for (let number = 1; number <= count; number++) lines += `flood ${number}\n`;
  process.stdout.write(lines);
}

function run(line: string): void {
  const [command, ...words] = line.split(' ');
  if (command === 'quit' && !options.has('--ignore-stop')) {
    say('bye');
    process.exit(0);
  } else if (command === 'crash') process.exit(Number(words[0] ?? 1));
  else if (command === 'kill') process.kill(process.pid, 'SIGKILL');
  else if (command === 'flood') flood(Number(words[0]));
  else if (command === 'env') say(`env ${JSON.stringify(process.env)}`);
  else if (command === 'load')
    for (const each of readFileSync(`bundles/${words[0]}/on-load.txt`, 'utf8').split('\n')) run(each);
  else if (command === 'hang') for (;;);
  else say(`did ${line}`);
}

if (options.has('--crash-at-start')) {
  process.stderr.write('cannot find my map\n');
  process.exit(3);
}
if (options.has('--ignore-sigterm')) process.on('SIGTERM', () => say('no'));
if (options.has('--grandchild')) startGrandchild(false);
if (options.has('--stubborn-grandchild')) startGrandchild(true);
if (options.has('--escaped-grandchild')) startEscapedGrandchild();
const optionValue = (name: string): string | undefined => process.argv[process.argv.indexOf(name) + 1];
if (options.has('--bytes')) process.stdout.write(Buffer.from(optionValue('--bytes') ?? '', 'hex'));
if (options.has('--http')) await answerAsFxServer(Number(optionValue('--http')));
if (options.has('--ticks')) {
  let ticks = 0;
  setInterval(
    () => {
      ticks += 1;
      say(`tick ${ticks}`);
    },
    Number(optionValue('--ticks')),
  );
}
if (!options.has('--silent')) say(`ready ${process.pid} in ${process.cwd()}`);

let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) run(line);
});
setInterval(() => {}, 1_000_000);
