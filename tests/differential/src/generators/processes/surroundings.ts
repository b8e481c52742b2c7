import type { Scenario } from '../../scenario.ts'
import { as, CODECS, reading, run, sh, TERMINAL } from './steps.ts'

const ENVIRONMENTS: readonly Readonly<Record<string, string>>[] = [
  {},
  { A: '1' },
  { A: '1', B: '2', C: '3' },
  { A: '' },
  { PATH: '/bin' },
  { PATH: '' },
  { HOME: '/tmp' },
  { HOME: '' },
  { USER: 'someone', LOGNAME: 'else' },
  { 'E-2': 'x' },
  { 'a b': 'x' },
  { '1A': 'x' },
  { 'a.b': 'x' },
  { é: 'ü' },
  { '😀': '😀' },
  { A: 'a=b' },
  { 'A=B': 'c' },
  { '=': 'x' },
  { '': 'x' },
  { A: 'one\ntwo' },
  { 'A\nB': 'x' },
  { A: '\t"\'$HOME`id`\\' },
  { A: 'a\0b' },
  { 'A\0B': 'x' },
  { A: '\0' },
  { path: '/lower' },
  { LD_LIBRARY_PATH: '/missing' },
  { NODE_OPTIONS: '--bad' },
  { GOMAXPROCS: '1' },
  { SHELL: '/bin/false', TERM: 'dumb', LANG: 'C', PWD: '/x', OLDPWD: '/y', _: 'z', SHLVL: '9' },
  { E2B_SANDBOX: 'mine' },
  { E2B_SANDBOX_ID: 'mine' },
  { A: 'x'.repeat(100_000) },
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`V${index}`, String(index)])),
  { A: 'x'.repeat(131_072) },
  { ENV: '/missing', BASH_ENV: '/missing', IFS: 'x', PS1: '# ' },
]

const DIRECTORIES: readonly (string | null | undefined)[] = [
  [
    undefined,
    null,
    '',
    '/',
    '/scratch',
    '/scratch/',
    '/scratch/missing',
    '/scratch/file.txt',
    'work',
    'work/',
    'missing',
    '.',
    '..',
    '../..',
    'link',
  ],
  [
    '~',
    '~/',
    '~/work',
    '~/missing',
    '~user',
    '~root',
    '~missing',
    '~/..',
    '/root',
    '/scratch/closed',
    '/scratch/closed/x',
    '/scratch/to-dir',
  ],
  ['/scratch/to-file', '/scratch/broken', '/scratch/loop-a', '//scratch//dir/./sub/..', ' /scratch', '/scratch ', 'é', '/home/other'],
  [
    '/proc/1/cwd',
    '/dev/null',
    '/scratch\0',
    '\0',
    '/scratch/fifo',
    '/x'.repeat(300),
    `/${'n'.repeat(256)}`,
    `/scratch/${'n'.repeat(255)}`,
    '/scratch/new\nline.txt',
    '$HOME',
  ],
].flat()

const USERS = [undefined, 'user', 'root', 'other', 'nobody', 'daemon', 'missing', '', 'USER', 'us er', '0', '1000', 'user\0', 'é']
const AUTHORIZATIONS = [
  '',
  'Basic',
  'Basic ',
  'Basic !!!',
  'Basic dXNlcg==',
  'basic cm9vdDo=',
  'Basic cm9vdDpwYXNz',
  'Basic cm9vdDo',
  'Bearer x',
  'Basic  cm9vdDo=',
  'Basic Og==',
]

/** Environment, directory and user of a command (envd.md 8.4). */
export function* surroundingScenarios(): Generator<Scenario> {
  for (const envs of ENVIRONMENTS) {
    for (const codec of CODECS) {
      const command = { cmd: '/usr/bin/env', args: ['-u', 'E2B_SANDBOX'], envs }
      yield reading('process environment', run(command, {}, { codec, isUnordered: true }))
    }
    yield reading('process environment', run({ ...sh('echo "$PATH|$HOME|$USER|$LOGNAME|$A"'), envs }, TERMINAL))
  }
  yield reading('process environment', run({ cmd: '/usr/bin/env' }, {}, { isUnordered: true }))
  for (const user of ['root', 'other', 'nobody']) {
    yield reading('process environment', run({ cmd: '/usr/bin/env', args: ['-u', 'E2B_SANDBOX'] }, {}, { ...as(user), isUnordered: true }))
  }
  for (const [index, cwd] of DIRECTORIES.entries()) {
    for (const user of [undefined, 'root', 'other']) {
      const command = { cmd: '/bin/pwd', args: ['-P'], ...(cwd === undefined ? {} : { cwd }) }
      yield reading('process directory', run(command, {}, { ...as(user), codec: index % 2 === 0 ? 'json' : 'proto' }))
      yield reading('process directory', run(command, TERMINAL, as(user)))
    }
  }
  const whoami = sh('id; echo "$HOME $USER $LOGNAME"; pwd; cat /scratch/secret; umask')
  for (const user of USERS) {
    for (const more of [{}, TERMINAL]) yield reading('process user', run(whoami, more, as(user)))
    yield reading('process user', run({ ...whoami, cwd: '~' }, {}, { ...as(user), codec: 'proto' }))
    yield reading('process user', run(sh('echo x >/dev/stdout; echo y >/dev/stderr; cat /dev/stdin'), { stdin: false }, as(user)))
  }
  for (const value of AUTHORIZATIONS) yield reading('process user', run(whoami, {}, { headers: [['Authorization', value]] }))
}
