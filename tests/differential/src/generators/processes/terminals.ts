import type { Scenario } from '../../scenario.ts'
import type { ScriptStep } from '../../script/script.ts'
import { as, ask, CODECS, closeInput, connect, ended, input, pid, reading, run, says, sh, signal, start, TERMINAL } from './steps.ts'

const AREA = 'process terminals'
const NUMBERS = [0, 1, 80, 65_535, 65_536, 65_537, 4_294_967_295]
const SIZES: readonly object[] = [
  ...NUMBERS.flatMap((cols) => NUMBERS.map((rows) => ({ size: { cols, rows } }))),
  {},
  { size: null },
  { size: {} },
  { size: { cols: 100 } },
  { size: { rows: 40 } },
]

/** Input for `cat`, and the output to wait for before its end. */
const TYPED: readonly (readonly [text: string, seen: string])[] = [
  ['plain\n', 'plain\r\nplain\r\n'],
  ['return\r', 'return\r\nreturn\r\n'],
  ['erase\x7f\x7fX\n', 'eraX\r\n'],
  ['kill\x15new\n', '\r\nnew\r\n'],
  ['word one\x17two\n', '\r\nword two\r\n'],
  ['\xc3\xa9\xe6\x96\x87\n', '\xc3\xa9\xe6\x96\x87\r\n\xc3\xa9\xe6\x96\x87\r\n'],
  ['\x16\x03\n', '\r\n\x03\r\n'],
  ['bell\x07\n', 'bell\x07\r\n'],
  ['tab\t\n', 'tab\t\r\ntab\t\r\n'],
  ['esc\x1b[A\n', '\r\nesc\x1b[A\r\n'],
  ['partial\x04\n', 'partialpartial'],
]

const PROGRAMS: readonly string[] = [
  'test -t 0 && test -t 1 && test -t 2 && echo terminal',
  'stty -a | head -n 1 | cut -d ";" -f 1',
  'stty -a | tail -n +2 | grep -v line',
  'stty -echo; stty -a | grep -o -- "-\\?echo\\b"',
  'ls -l $(tty) | cut -d " " -f 1',
  'stat -c "%U %G" $(tty)',
  'echo x >/dev/tty',
  'echo $TERM',
  'cut -d " " -f 5 /proc/$$/stat | grep -qx $$ && echo leads its group',
  'cut -d " " -f 6 /proc/$$/stat | grep -qx $$ && echo leads its session',
  'cut -d " " -f 8 /proc/$$/stat | grep -qx $$ && echo in front',
  'seq 1 20000',
  'printf "a\\nb\\rc\\td"',
  'head -c 50000 /dev/zero | tr "\\0" y',
  'exec </dev/null >/dev/null 2>&1',
  'ls /proc/self/fd | wc -l',
]

/** Terminals (envd.md 8.5, 8.8). */
export function* terminalScenarios(): Generator<Scenario> {
  for (const [index, pty] of SIZES.entries()) {
    const codec = index % 2 === 0 ? 'json' : 'proto'
    yield reading(AREA, run(sh('stty size'), { pty }, { codec }))
    yield reading(AREA, resized([ask('Update', { process: pid('a'), pty }, { codec })]))
  }
  for (const more of [{ pty: null }, { pty: {}, stdin: false }, { ...TERMINAL, stdin: true }, { ...TERMINAL, stdin: null }]) {
    yield reading(AREA, run(sh('test -t 0 && echo terminal'), { stdin: false, ...more }))
  }
  for (const message of [{}, { pty: null }, { pty: { size: { cols: 1, rows: 1 } } }, { pty: {} }]) {
    yield reading(AREA, resized([ask('Update', { process: pid('a'), ...message })]))
    yield reading(AREA, [start('a', { cmd: 'cat' }), ask('Update', { process: pid('a'), ...message }), closeInput('a'), ended('a')])
    yield reading(AREA, [...run({ cmd: 'true' }, TERMINAL), ask('Update', { process: pid('a'), ...message })])
    yield reading(AREA, resized([ask('Update', { process: { tag: 'missing' }, ...message })]))
  }
  for (const program of PROGRAMS) for (const codec of CODECS) yield reading(AREA, run(sh(program), TERMINAL, { codec }))
  for (const user of ['user', 'other', 'nobody']) {
    for (const program of PROGRAMS.slice(0, 11)) yield reading(AREA, run(sh(program), TERMINAL, as(user)))
  }
  for (const [text, seen] of TYPED) {
    for (const codec of CODECS) {
      yield reading(AREA, [
        start('a', { cmd: 'cat' }, TERMINAL, { codec }),
        input('a', 'pty', text, { codec }),
        says('a', seen, 'pty'),
        signal('a'),
        ended('a'),
      ])
    }
  }
  yield* controlScenarios()
}

/** Keys that send signals, and a client that disconnects and connects again. */
function* controlScenarios(): Generator<Scenario> {
  for (const key of ['\x03', '\x1c', '\x04']) {
    const ready = [start('a', sh('echo ready; exec cat'), TERMINAL), says('a', 'ready', 'pty')]
    yield reading(AREA, [...ready, input('a', 'pty', key), ended('a')])
    yield reading(AREA, [
      start('a', sh('trap "echo caught" INT QUIT; echo ready; cat; echo after'), TERMINAL),
      says('a', 'ready', 'pty'),
      input('a', 'pty', key),
      ended('a'),
    ])
    yield reading(AREA, [...ready, connect('b', pid('a')), input('a', 'pty', key), ended('a'), ended('b')])
  }
  const caught = sh('trap "echo hup; exit 5" HUP; echo ready; read x; echo got $x')
  for (const name of ['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL']) {
    yield reading(AREA, [start('a', caught, TERMINAL), says('a', 'ready', 'pty'), signal('a', name), ended('a')])
    yield reading(AREA, [
      start('a', { cmd: 'cat' }, TERMINAL),
      { do: 'drop', stream: 'a' },
      connect('b', pid('a')),
      input('a', 'pty', 'back\n'),
      says('b', 'back\r\nback\r\n', 'pty'),
      signal('a', name),
      ended('b'),
    ])
  }
  yield reading(AREA, [start('a', { cmd: 'cat' }, TERMINAL), closeInput('a'), input('a', 'stdin', 'x'), signal('a'), ended('a')])
  yield reading(AREA, [
    start('a', sh('stty raw -echo; echo ready; head -c 20000 | wc -c'), TERMINAL),
    says('a', 'ready', 'pty'),
    input('a', 'pty', 'z'.repeat(20_000)),
    ended('a'),
  ])
}

/** A terminal that prints its size before and after the steps. */
function resized(steps: readonly ScriptStep[]): readonly ScriptStep[] {
  const program = sh('stty -echo; stty size; echo ready; read x; stty size')
  return [start('a', program, TERMINAL), says('a', 'ready', 'pty'), ...steps, input('a', 'pty', 'go\n'), ended('a')]
}
