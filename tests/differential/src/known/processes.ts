import type { Difference } from '../compare/difference.ts'
import type { KnownDifference, Sighting } from '../known-difference.ts'

const RUNNER = /(\/usr\/bin\/)?(ionice|nice): /

/** What processes are given, say, and end with. */
export const PROCESS_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'commands that cannot be run',
    reason:
      'What stands on the stderr of a command that is not found or cannot be executed is from the shell here; the reference daemon has it from `nice`. The exit codes are the same.',
    matches: ({ difference: { at, ours, reference } }) =>
      /^body\.(stderr|pty)$/.test(at) && /^(--|\/bin\/sh): /.test(String(ours)) && RUNNER.test(String(reference)),
  },
  {
    id: 'names that cannot be commands',
    reason:
      'A command whose path is too long, goes round in links or goes through a file ends with 127, as in a shell. `nice`, which the reference daemon puts before every command, ends with 126, and takes a command that begins with `-` for an option of its own (125).',
    matches: (sighting) =>
      (isOfEnd(sighting.difference) && /"cmd":"(-|\/scratch\/(loop-a|file\.txt\/child)"|x{3000})/.test(bodyOf(sighting))) ||
      (/^body\.(stderr|pty)$/.test(sighting.difference.at) && /"cmd":"x{3000}/.test(bodyOf(sighting))),
  },
  {
    id: 'environment by way of a shell',
    reason:
      'A command has exactly its variables. The reference daemon puts a shell before every command, which adds `PWD`, sets `IFS` anew, and drops variables whose names no shell could use (`a b`, `1A`, `=`, empty ones, those of several lines).',
    matches: (sighting) =>
      sighting.difference.at === 'body.stdout' &&
      bodyOf(sighting).includes('/usr/bin/env') &&
      withoutShell(String(sighting.difference.ours)) === withoutShell(String(sighting.difference.reference)),
  },
  {
    id: 'core files',
    reason:
      'Processes write no core files unless they raise that limit themselves, which they may; under the reference daemon they may not.',
    matches: ({ difference: { at, ours, reference } }) =>
      at === 'body.stdout' &&
      String(reference).includes('Max core file size') &&
      withoutCores(String(ours)) === withoutCores(String(reference)),
  },
  {
    id: '/dev/stdout',
    reason: 'Every user can open `/dev/stdout`, `/dev/stderr` and `/dev/stdin`; under the reference daemon only root can.',
    matches: (sighting) => /cannot (create|open) \/dev\/std/.test(textOf(sighting, 'reference')),
  },
  {
    id: 'owner of a terminal',
    reason: 'A terminal belongs to the user of its process, as after any login; that of the reference daemon belongs to root.',
    matches: (sighting) => sighting.difference.at === 'body.pty' && /stat -c \\?"?%U/.test(bodyOf(sighting).replaceAll('\\', '')),
  },
  {
    id: 'no process',
    reason:
      'A `Start` without a `process` is `invalid_argument`; the reference daemon starts a command without a name, which ends with 127.',
    matches: (sighting) => textOf(sighting, 'ours').includes('process is required'),
  },
  {
    id: 'tags behind others',
    reason:
      'A tag selects any process that has it; the reference daemon stops looking at the first process with another tag, which is chance.',
    matches: (sighting) =>
      /process with tag [^"]* not found/.test(textOf(sighting, 'reference')) && !textOf(sighting, 'ours').includes('not found'),
  },
  {
    id: 'input before its start',
    reason: 'A stream of input whose first message is not its start is `invalid_argument`; the reference daemon drops the connection.',
    matches: (sighting) => textOf(sighting, 'ours').includes('the first message must be the start'),
  },
  {
    id: 'early ends of input',
    reason: 'A stream of input that fails is answered at once; the reference daemon answers when the client has ended its side.',
    matches: ({ difference: { at, ours }, requests }) =>
      at === 'late' &&
      Array.isArray(ours) &&
      ours.length === 0 &&
      requests.some(({ headers }) => headers.some(([name]) => name === 'Transfer-Encoding')),
  },
  {
    id: 'base64 with mistakes',
    reason:
      'Bytes in JSON may have needless padding or stray characters, since the JSON reader of protobuf-es skips them; the reference daemon refuses such a text.',
    matches: (sighting) =>
      /invalid value for bytes field/.test(textOf(sighting, 'reference')) ||
      (isWhatCatGot(sighting.difference) && sighting.requests.some(({ body }) => /"stdin":"(aGkK=|a|!!!!|aGkK\\n)"/.test(String(body)))),
  },
  {
    id: 'behind the end of a stream',
    reason: 'What a client sends behind the end of its stream of requests is not looked at; the reference daemon refuses it.',
    matches: (sighting) => /extra bytes after end of stream/.test(textOf(sighting, 'reference')),
  },
  {
    id: 'wrong wire types of processes',
    reason: 'A protobuf field of another wire type than its own is refused in calls of processes as well.',
    matches: (sighting) =>
      textOf(sighting, 'ours').includes('unmarshal message: premature EOF') && !textOf(sighting, 'reference').includes('unmarshal message'),
  },
  {
    id: 'keepalives with a sign',
    reason: 'A `Keepalive-Ping-Interval` with a sign counts as absent; the reference daemon takes one with a plus.',
    matches: (sighting) =>
      sighting.requests.some(({ headers }) => headers.some(([name, value]) => name === 'Keepalive-Ping-Interval' && value.startsWith('+'))),
  },
]

/** More came out of a `cat` here, since more went in. */
function isWhatCatGot({ at, reference }: Difference): boolean {
  return at === 'body.order' || (at === 'body.stdout' && reference === undefined)
}

/** All that one side said otherwise than the other. */
function textOf({ all }: Sighting, side: 'ours' | 'reference'): string {
  return JSON.stringify(all.map((difference) => difference[side]))
}

function bodyOf({ request }: Sighting): string {
  return request?.body?.toString('latin1') ?? ''
}

function isOfEnd({ at, ours, reference }: Difference): boolean {
  return at.startsWith('body.end.') && String(ours).endsWith('127') && /12[56]$/.test(String(reference))
}

/** The lines of an environment that a shell between would not change. */
function withoutShell(text: string): string {
  const lines = text
    .replace('\nA\nB=x\n', '\n')
    .split('\n')
    .filter((line) => /^([A-Za-z_][A-Za-z0-9_]*=|$)/.test(line) && !/^(PWD|IFS|OLDPWD|E2B_SANDBOX)=/.test(line))
  return lines.filter((line) => line !== '').join('\n')
}

function withoutCores(text: string): string {
  return text.replace(/^Max core file size .*$/m, '')
}
