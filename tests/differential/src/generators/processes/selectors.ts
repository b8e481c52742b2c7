import type { Scenario } from '../../scenario.ts'
import type { ProcessMethod, Script, ScriptStep } from '../../script/script.ts'
import { ask, base64, closeInput, CODECS, connect, ended, input, pid, reading, says, sh, signal, start, TERMINAL } from './steps.ts'

const AREA = 'process selectors'

/** The other fields of each call that has a selector. */
const CALLS: readonly (readonly [ProcessMethod, object])[] = [
  ['Connect', {}],
  ['Update', { pty: { size: { cols: 1, rows: 1 } } }],
  ['SendInput', { input: { stdin: base64('x') } }],
  ['CloseStdin', {}],
  ['SendSignal', { signal: 'SIGNAL_SIGKILL' }],
]

const WRONG: readonly unknown[] = [
  undefined,
  null,
  {},
  { pid: null },
  { tag: null },
  { pid: 0 },
  { pid: 1 },
  { pid: 4_000_000 },
  { pid: 4_294_967_295 },
  { pid: 4_294_967_296 },
  { pid: -1 },
  { pid: 1.5 },
  { pid: '1' },
  { pid: 'x' },
  { pid: true },
  { pid: 1, tag: 'x' },
  { tag: 'missing' },
  { tag: '' },
  { tag: 5 },
  { tag: 'é' },
  { tag: 'new\nline' },
  { other: 1 },
  'text',
  [],
]

const SIGNALS: readonly unknown[] = [
  ['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL', 'SIGNAL_UNSPECIFIED', 'SIGNAL_SIGINT', 'SIGTERM', 'SIGKILL', '', 'x', '9', '15'],
  [0, 1, 2, 9, 15, 16, 19, 31, 64, 99, -1, 1.5, 9.0, 2_147_483_647, 2_147_483_648, -2_147_483_648, null, undefined, true, [], {}],
].flat()

/** Selectors of processes, and signals (envd.md 8.8). */
export function* selectorScenarios(): Generator<Scenario> {
  const cat = start('a', { cmd: 'cat' })
  for (const [method, more] of CALLS) {
    for (const process of WRONG) yield reading(AREA, [cat, ask(method, { process, ...more }), ask('List', {})])
  }
  for (const process of WRONG) yield reading(AREA, [cat, ask('StreamInput', [{ start: { process } }])])
  yield* tagScenarios()
  for (const codec of CODECS) yield* endedScenarios(codec)
  for (const value of SIGNALS) {
    yield reading(
      'process signals',
      [cat, ask('SendSignal', { process: pid('a'), signal: value }), ask('List', {}), closeInput('a'), ended('a')].filter(isCertain(value)),
    )
    yield reading('process signals', [start('a', { cmd: 'cat' }, TERMINAL), ask('SendSignal', { process: pid('a'), signal: value })])
    yield reading('process signals', [start('a', { cmd: 'true' }), ended('a'), ask('SendSignal', { process: pid('a'), signal: value })])
  }
  yield* trapScenarios()
}

/** False for calls after a deadly signal, because a killed process may still be listed and accept the end of its input. */
function isCertain(value: unknown): (step: ScriptStep) => boolean {
  const isDeadly = /TERM|KILL|^(9|15)$/.test(String(value))
  return (step) => !isDeadly || step.do !== 'ask' || step.call.method === 'SendSignal'
}

function* tagScenarios(): Generator<Scenario> {
  const tags = ['tag', '', ' ', 'é', 'new\nline', '0', 'x'.repeat(5000), '_system', '$a b', null, undefined]
  for (const [index, tag] of tags.entries()) {
    for (const codec of CODECS) {
      const one = start('a', { cmd: 'cat' }, { tag }, { codec })
      const process = tag === undefined || tag === null ? pid('a') : { tag }
      yield reading('process tags', [
        one,
        ask('List', {}, { codec }),
        connect('b', process, { codec }),
        ask('SendInput', { process, input: { stdin: base64('hi') } }, { codec }),
        says('b', 'hi'),
        ask('CloseStdin', { process }),
        ended('a'),
        ended('b'),
        connect('c', process, { codec }),
        ended('c'),
        ask('List', {}),
      ])
    }
    const other = start('other', sh('cat >/dev/null; exit 7'), { tag: `other ${index}` })
    yield reading('process tags', [
      start('a', sh('exec cat >/dev/null'), { tag }),
      other,
      ask('List', {}),
      connect('b', { tag: `other ${index}` }),
      connect('c', tag === undefined || tag === null ? pid('a') : { tag }),
      closeInput('other'),
      ended('other'),
      ask('List', {}),
      closeInput('a'),
      ended('a'),
    ])
  }
  const [first, second] = [
    start('a', sh('cat >/dev/null; exit 1'), { tag: 'twice' }),
    start('b', sh('cat >/dev/null; exit 2'), { tag: 'twice' }),
  ]
  yield reading('process tags', [
    first,
    second,
    ask('List', {}),
    closeInput('a'),
    ended('a'),
    connect('c', { tag: 'twice' }),
    closeInput('b'),
    ended('b'),
    ended('c'),
  ])
  yield reading('process tags', [
    first,
    closeInput('a'),
    ended('a'),
    second,
    connect('c', { tag: 'twice' }),
    closeInput('b'),
    ended('b'),
    ended('c'),
  ])
  yield reading('process tags', [
    first,
    closeInput('a'),
    ended('a'),
    second,
    closeInput('b'),
    ended('b'),
    connect('c', { tag: 'twice' }),
    ended('c'),
  ])
  for (const tag of [5, true, [], {}]) yield reading('process tags', [start('a', { cmd: 'true' }, { tag }), ended('a')])
}

/** Calls for a process that has just ended. */
function* endedScenarios(codec: 'json' | 'proto'): Generator<Scenario> {
  for (const [index, script] of ['true', 'exit 3', 'kill -9 $$', 'echo output', 'kill -15 $$'].entries()) {
    for (const more of [{}, TERMINAL]) {
      const tag = `ended ${index} ${codec} ${more === TERMINAL}`
      const before: Script = [start('a', sh(script), { tag, ...more }, { codec }), ended('a')]
      for (const process of [pid('a'), { tag }])
        yield reading(AREA, [...before, connect('b', process, { codec }), ended('b'), connect('c', process), ended('c')])
      for (const [method, beside] of CALLS.slice(1))
        yield reading(AREA, [...before, ask(method, { process: { tag }, ...beside }, { codec })])
    }
  }
}

function* trapScenarios(): Generator<Scenario> {
  const scripts = [
    'trap "echo caught; exit 9" TERM; echo ready; while :; do read x || sleep 60; done',
    'trap "" TERM; echo ready; read x; echo "got $x"',
    'echo ready; sleep 60 & wait',
    'echo ready; exec sleep 60',
  ]
  for (const script of scripts) {
    for (const [more, output] of [
      [{}, 'stdout'],
      [TERMINAL, 'pty'],
    ] as const) {
      const ready: Script = [start('a', sh(script), more), says('a', 'ready', output)]
      yield reading('process signals', [
        ...ready,
        signal('a', 'SIGNAL_SIGKILL'),
        ended('a'),
        ask('List', {}),
        signal('a', 'SIGNAL_SIGKILL'),
      ])
      yield reading('process signals', [
        ...ready,
        connect('b', pid('a')),
        signal('a', 'SIGNAL_SIGKILL'),
        ended('a'),
        ended('b'),
        connect('c', pid('a')),
        ended('c'),
      ])
      if (script.includes('""'))
        yield reading('process signals', [
          ...ready,
          signal('a', 'SIGNAL_SIGTERM'),
          ask('List', {}),
          // Its last output may be cut off.
          { do: 'drop', stream: 'a' },
          input('a', output === 'pty' ? 'pty' : 'stdin', 'still\n'),
          { do: 'gone', stream: 'a' },
        ])
      else if (!script.includes('caught'))
        yield reading('process signals', [...ready, signal('a', 'SIGNAL_SIGTERM'), ended('a'), ask('List', {})])
    }
  }
}
