import type { Difference } from '../compare/difference.ts'
import type { KnownDifference, Sighting } from '../known-difference.ts'

const RUNNER = /(\/usr\/bin\/)?(ionice|nice): /

/** Differences in the environment, output and end of processes. */
export const PROCESS_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'commands that cannot be run',
    reason:
      'If a command is not found or cannot be executed, the text on its stderr comes from the shell; in the reference daemon it comes from `nice`. The exit codes are the same.',
    matches: ({ difference: { at, ours, reference } }) =>
      /^body\.(stderr|pty)$/.test(at) && /^(--|\/bin\/sh): /.test(String(ours)) && RUNNER.test(String(reference)),
  },
  {
    id: 'names that cannot be commands',
    reason:
      'A command whose path is too long, has a cycle of links or leads through a file exits with 127, as in a shell. The reference daemon runs every command through `nice`, which exits with 126, and treats a command that begins with `-` as one of its options (125).',
    matches: (sighting) =>
      (isOfEnd(sighting.difference) && /"cmd":"(-|\/scratch\/(loop-a|file\.txt\/child)"|x{3000})/.test(bodyOf(sighting))) ||
      (/^body\.(stderr|pty)$/.test(sighting.difference.at) && /"cmd":"x{3000}/.test(bodyOf(sighting))),
  },
  {
    id: 'environment by way of a shell',
    reason:
      'A command gets exactly its variables. The reference daemon runs every command through a shell, which adds `PWD`, resets `IFS`, and drops variables with names that are invalid in a shell (`a b`, `1A`, `=`, empty names, names with line breaks).',
    matches: (sighting) =>
      sighting.difference.at === 'body.stdout' &&
      bodyOf(sighting).includes('/usr/bin/env') &&
      withoutShell(String(sighting.difference.ours)) === withoutShell(String(sighting.difference.reference)),
  },
  {
    id: 'core files',
    reason: 'Processes write no core files by default, but may raise that limit; under the reference daemon they may not raise it.',
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
    reason: 'A terminal belongs to the user of its process, as after a login; in the reference daemon it belongs to root.',
    matches: (sighting) => sighting.difference.at === 'body.pty' && /stat -c \\?"?%U/.test(bodyOf(sighting).replaceAll('\\', '')),
  },
  {
    id: 'no process',
    reason:
      'A `Start` without a `process` fails with `invalid_argument`; the reference daemon starts a command without a name, which exits with 127.',
    matches: (sighting) => textOf(sighting, 'ours').includes('process is required'),
  },
  {
    id: 'tags behind others',
    reason:
      'A tag finds its process whatever tags other processes have; the reference daemon ends its search at the first process with another tag, in random order.',
    matches: (sighting) =>
      /process with tag [^"]* not found/.test(textOf(sighting, 'reference')) && !textOf(sighting, 'ours').includes('not found'),
  },
  {
    id: 'input before its start',
    reason:
      'A stream of input whose first message is not its start fails with `invalid_argument`; the reference daemon closes the connection.',
    matches: (sighting) => textOf(sighting, 'ours').includes('the first message must be the start'),
  },
  {
    id: 'early ends of input',
    reason: 'The error of a stream of input is sent at once; the reference daemon sends it when the client has ended its side.',
    matches: ({ difference: { at, ours }, requests }) =>
      at === 'late' &&
      Array.isArray(ours) &&
      ours.length === 0 &&
      requests.some(({ headers }) => headers.some(([name]) => name === 'Transfer-Encoding')),
  },
  {
    id: 'base64 with mistakes',
    reason:
      'Base64 in JSON may have superfluous padding or invalid characters, since the JSON reader of protobuf-es skips them; the reference daemon refuses it.',
    matches: (sighting) =>
      /invalid value for bytes field/.test(textOf(sighting, 'reference')) ||
      (isWhatCatGot(sighting.difference) && sighting.requests.some(({ body }) => /"stdin":"(aGkK=|a|!!!!|aGkK\\n)"/.test(String(body)))),
  },
  {
    id: 'behind the end of a stream',
    reason: 'Bytes after the end of a stream of requests are ignored; the reference daemon refuses them.',
    matches: (sighting) => /extra bytes after end of stream/.test(textOf(sighting, 'reference')),
  },
  {
    id: 'wrong wire types of processes',
    reason: 'A protobuf field with a wrong wire type is refused in calls of processes as well.',
    matches: (sighting) =>
      textOf(sighting, 'ours').includes('parse binary: premature EOF') && !textOf(sighting, 'reference').includes('unmarshal message'),
  },
  {
    id: 'keepalives with a sign',
    reason: 'A `Keepalive-Ping-Interval` with a sign is ignored; the reference daemon accepts one with a plus.',
    matches: (sighting) =>
      sighting.requests.some(({ headers }) => headers.some(([name, value]) => name === 'Keepalive-Ping-Interval' && value.startsWith('+'))),
  },
]

/** The output of a `cat` that got more input here. */
function isWhatCatGot({ at, reference }: Difference): boolean {
  return at === 'body.order' || (at === 'body.stdout' && reference === undefined)
}

/** The values of one side in all differences. */
function textOf({ all }: Sighting, side: 'ours' | 'reference'): string {
  return JSON.stringify(all.map((difference) => difference[side]))
}

function bodyOf({ request }: Sighting): string {
  return request?.body?.toString('latin1') ?? ''
}

function isOfEnd({ at, ours, reference }: Difference): boolean {
  return at.startsWith('body.end.') && String(ours).endsWith('127') && /12[56]$/.test(String(reference))
}

/** The lines of an environment that a shell does not change. */
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
