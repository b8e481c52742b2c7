import type { Scenario } from '../../scenario.ts'
import {
  ask,
  closeInput,
  CODECS,
  connect,
  ended,
  input,
  pid,
  reading,
  RELEASE,
  run,
  says,
  sh,
  signal,
  start,
  TERMINAL,
  type Command,
} from './steps.ts'

const AREA = 'process commands'
const LONG = 'x'.repeat(3000)

const COMMANDS: readonly Command[] = [
  ...['true', 'false', '/bin/true', 'missing', '/missing', 'missing/child', '/scratch/missing/child', './missing', '../bin/true'].map(
    named,
  ),
  ...['', ' ', '-n', '--', '.', '..', '/', '/scratch', '/scratch/file.txt', '/scratch/empty', '/scratch/setuid', '/scratch/fifo'].map(
    named,
  ),
  ...[
    '/scratch/closed/inside',
    '/scratch/broken',
    '/scratch/loop-a',
    '/scratch/null',
    '/scratch/socket',
    'a b',
    'new\nline',
    'é',
    LONG,
  ].map(named),
  ...['a\0b', '$HOME', '`id`', ';', '/bin/echo hi', 'cd', 'exit', 'echo', '[', 'test', '/scratch/file.txt/child', '~', '~/x'].map(named),
  { cmd: 'bin/true', cwd: '/' },
  { cmd: './bin/echo', args: ['relative'], cwd: '/' },
  { cmd: '../bin/echo', args: ['relative'], cwd: '/usr' },
  { cmd: 'file.txt', cwd: '/scratch', envs: { PATH: '/scratch' } },
  { cmd: 'true', envs: { PATH: '' } },
  { cmd: 'true', envs: { PATH: '/missing' } },
  { cmd: 'true', envs: { PATH: ':/missing' }, cwd: '/bin' },
  { cmd: 'true', envs: { PATH: '/scratch/file.txt:/bin' } },
  { cmd: 'setuid', envs: { PATH: '/scratch:/bin' } },
  {},
  { args: ['x'] },
  { cmd: '', args: ['true'] },
  { cmd: 'true', args: ['a\0b'] },
]

const ARGUMENTS: readonly (readonly string[])[] = [
  [[], [''], ['', ''], [' '], ['a b'], ['-n'], ['--'], ['--', '-x'], ['$HOME'], ['$(id)'], ['`id`'], ['"'], ["'"], ['\\'], ['\n'], ['\t']],
  [
    ['*'],
    ['?'],
    ['[a]'],
    ['~'],
    ['!'],
    ['#'],
    ['&'],
    ['|'],
    ['<'],
    ['>'],
    [';'],
    ['a', 'b', 'c'],
    ['é', '文件', '😀'],
    ['%s', '%%'],
    ['\x01\x7f'],
  ],
  [
    Array.from({ length: 500 }, (_, index) => `argument ${index}`),
    [LONG, LONG],
    ['$1', '$@', '$*'],
    ['{a,b}'],
    ['a=b'],
    ['\u0301'],
    ['\ufeff'],
  ],
].flat()

/** Commands with a large output, special descriptors or background processes. */
const OUTPUTS: readonly string[] = [
  'head -c 300000 /dev/zero',
  'head -c 300000 /dev/zero >&2',
  'head -c 2000000 /dev/zero | tr "\\0" x',
  'seq 1 50000',
  'seq 1 5000; seq 1 5000 >&2',
  'printf "\\377\\376\\200"',
  'printf "\\303"; printf "\\251"',
  'printf "no newline"',
  'printf "\\r\\n\\033[1mbold\\033[0m"',
  'printf ""',
  'exec >&-; echo closed >&2',
  'exec 2>&-; echo open; echo lost >&2',
  'exec >&- 2>&-',
  'echo out; echo err >&2; exit 3',
  'seq 1 30000; kill -9 $$',
  'seq 1 30000; kill -TERM $$',
  'sh -c "kill -9 \\$\\$"; echo $?',
  'sh -c "kill -9 \\$\\$"',
  'trap "echo bye" EXIT; echo hi',
  'echo a | cat | cat',
  'umask',
  'nice',
  'cat /proc/self/oom_score_adj',
  'ls /proc/self/fd | wc -l',
  'cat /proc/self/limits | grep -v locked | sort',
  'grep -E "^(Sig[^Q]|Cap|NoNew|Seccomp:)" /proc/self/status',
  'echo "$0" "$#"',
  'ls -l /proc/self/fd/0 | cut -c1-1',
  'readlink /proc/self/fd/1 | cut -d: -f1',
  'read x; echo "$? $x"',
  'echo "last line" >/proc/self/fd/1',
]

/** Commands, their output and their end (envd.md 8.2, 8.3, 8.7). */
export function* commandScenarios(): Generator<Scenario> {
  for (const command of COMMANDS) for (const more of [{}, TERMINAL]) yield reading(AREA, run(command, more))
  for (const args of ARGUMENTS) yield reading(AREA, run({ cmd: 'printf', args: ['<%s>\\n', ...args] }))
  for (const args of ARGUMENTS.slice(0, 16)) yield reading(AREA, run(sh('printf "%s,%s\\n" "$#" "$*"', 'name', ...args), TERMINAL))
  for (let code = 0; code < 256; code++) {
    yield reading(AREA, run(sh(`exit ${code}`), code % 4 === 3 ? TERMINAL : {}, { codec: code % 2 === 0 ? 'json' : 'proto' }))
  }
  for (const number of [...Array.from({ length: 31 }, (_, index) => index + 1), 34, 35, 50, 63, 64]) {
    if (number === 19 || (number >= 20 && number <= 22)) continue
    for (const more of [{}, TERMINAL]) yield reading(AREA, run(sh(`kill -${number} $$; echo lived`), more))
  }
  for (const script of OUTPUTS) {
    for (const more of [{ stdin: false }, TERMINAL])
      if (isForTerminal(script) || more !== TERMINAL) yield reading(AREA, run(sh(script), more))
    yield reading(AREA, run(sh(script), { stdin: false }, { codec: 'proto' }))
  }
  for (const codec of CODECS) yield* backgroundScenarios(codec)
}

/** Children that outlive the command, with and without its output open. */
function* backgroundScenarios(codec: 'json' | 'proto'): Generator<Scenario> {
  const held = sh('(read x </scratch/fifo; echo late) & echo early')
  yield reading(AREA, [start('a', held, {}, { codec }), says('a', 'early'), ...RELEASE, ended('a')])
  yield reading(AREA, [start('a', sh('(read x </scratch/fifo) >/dev/null 2>&1 & echo early'), {}, { codec }), ended('a'), ...RELEASE])
  yield reading(AREA, [
    start('a', sh('trap "" PIPE; (read x </scratch/fifo; echo late) & echo early; wait'), {}, { codec }),
    says('a', 'early'),
    signal('a'),
    ended('a'),
    ...RELEASE,
  ])
  yield reading(AREA, [start('a', held, {}, { codec }), says('a', 'early'), connect('b', pid('a')), ...RELEASE, ended('a'), ended('b')])
  yield reading(AREA, [start('a', sh('read x; echo got $x'), {}, { codec }), input('a', 'stdin', 'line\n', { codec }), ended('a')])
  yield reading(AREA, [
    start('a', sh('cat; echo done'), {}, { codec }),
    input('a', 'stdin', 'one\ntwo', { codec }),
    closeInput('a'),
    ended('a'),
  ])
  yield reading(AREA, [
    start('a', sh('exec cat >/dev/null'), {}, { codec }),
    ask('List', {}, { codec }),
    closeInput('a'),
    ended('a'),
    ask('List', {}, { codec }),
  ])
}

/** True if the output on a terminal is the same in every run. */
function isForTerminal(script: string): boolean {
  return !/fd|limits|read|dev\/zero$|SIG|kill/.test(script)
}

function named(cmd: string): Command {
  return { cmd }
}
