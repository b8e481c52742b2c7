import type { Scenario } from '../../scenario.ts'
import type { Script, ScriptStep } from '../../script/script.ts'
import { envelope } from '../../wire/envelopes.ts'
import { ask, base64, closeInput, CODECS, ended, input, pid, reading, says, sh, signal, start, TERMINAL } from './steps.ts'

const AREA = 'process input'
const HI = base64('hi\n')

/** Valid and invalid inputs in JSON. */
const INPUTS: readonly (object | null | undefined | string | number)[] = [
  { stdin: HI },
  { pty: HI },
  { stdin: '' },
  { pty: '' },
  { stdin: null },
  {},
  null,
  undefined,
  { stdin: HI, pty: HI },
  { stdin: 'aGkK=' },
  { stdin: 'a' },
  { stdin: '!!!!' },
  { stdin: '_-8' },
  { stdin: '/+8=' },
  { stdin: 'aGkK\n' },
  { stdin: 5 },
  { stdin: [104] },
  { other: HI },
  'text',
  5,
  [],
]

const CLOSED: Script = [ask('List', {}), closeInput('a'), ended('a'), ask('List', {})]
const KILLED: Script = [closeInput('a'), ask('List', {}), signal('a'), ended('a')]

/** Processes with and without input, each in a defined state, and the steps that end them. */
const TARGETS: readonly { readonly before: Script; readonly after: Script }[] = [
  { before: [start('a', { cmd: 'cat' })], after: CLOSED },
  { before: [start('a', { cmd: 'cat' }, { stdin: true })], after: CLOSED },
  { before: [start('a', { cmd: 'cat' }, { stdin: null })], after: CLOSED },
  { before: [start('a', sh('read x </scratch/fifo'), { stdin: false })], after: KILLED },
  { before: [start('a', sh('cat >/dev/null; read x </scratch/fifo')), closeInput('a')], after: KILLED },
  // The amount of output before the end by a signal is random.
  {
    before: [start('a', sh('stty -echo; echo ready; cat'), TERMINAL), says('a', 'ready', 'pty')],
    after: [ask('List', {}), { do: 'drop', stream: 'a' }, signal('a')],
  },
  { before: [start('a', sh('exec <&-; echo ready; read x </scratch/fifo')), says('a', 'ready')], after: KILLED },
  { before: [start('a', { cmd: 'true' }), ended('a')], after: [ask('List', {}), signal('a')] },
]

/** Messages of one stream of requests; `"$a"` is a `cat`. */
const STREAMS: readonly (readonly (object | Buffer)[])[] = [
  [],
  [begin('$a')],
  [begin('$a'), stdin('one'), stdin('two')],
  [begin('$a'), { keepalive: {} }, stdin('one'), { keepalive: {} }],
  [{ keepalive: {} }, begin('$a'), stdin('one')],
  [begin('$a'), begin('$a'), stdin('one')],
  [begin('$a'), stdin('')],
  [begin('$a'), stdin('one'), { data: { input: { pty: HI } } }, stdin('two')],
  [begin('$a'), stdin('one'), {}, stdin('two')],
  [begin('$a'), { data: {} }],
  [begin('$a'), { data: null }],
  [begin('$a'), { data: { input: {} } }],
  [{}],
  [{ start: {} }],
  [{ start: { process: {} } }],
  [{ start: { process: { tag: 'missing' } } }],
  [{ start: { process: { pid: 4_000_000 } } }],
  [begin('$a'), stdin('one'), { start: { process: { pid: 4_000_000 } } }, stdin('two')],
  [begin('$a'), { start: { process: { pid: '$a' } }, data: {} }],
  [stdin('early')],
  [stdin('early'), begin('$a')],
  [{ keepalive: {} }],
  [{ keepalive: {} }, stdin('early')],
  [begin('$a'), stdin('x'.repeat(100_000))],
  [begin('$a'), ...Array.from({ length: 200 }, (_, index) => stdin(`line ${index}\n`))],
]

/** Malformed bytes that follow a valid start and a valid message. */
const BROKEN: readonly Buffer[] = [
  Buffer.from([0]),
  Buffer.from([0, 0, 0, 0]),
  Buffer.from([0, 0, 0, 0, 5, 123]),
  envelope(Buffer.from('{')),
  envelope(Buffer.from('')),
  envelope(Buffer.from('null')),
  envelope(Buffer.from('[]')),
  envelope(Buffer.from('{}'), 1),
  envelope(Buffer.from('{}'), 2),
  envelope(Buffer.from('{}'), 4),
  envelope(Buffer.from('{"data":{"input":{"stdin":"!"}}}')),
  envelope(Buffer.from('{"data":5}')),
  envelope(Buffer.from('{"unknown":5}')),
  Buffer.concat([envelope(Buffer.from('{}'), 2), envelope(Buffer.from('{"keepalive":{}}'))]),
]

/** Input of processes (envd.md 8.8). */
export function* inputScenarios(): Generator<Scenario> {
  for (const { before, after } of TARGETS) {
    for (const one of INPUTS) {
      const data = one === undefined ? {} : { input: one }
      yield reading(AREA, [...before, ask('SendInput', { process: pid('a'), ...data }), ...after])
      yield reading(AREA, [...before, ask('StreamInput', [begin('$a'), { data }]), ...after])
    }
    for (const codec of CODECS) {
      for (const kind of ['stdin', 'pty'] as const) yield reading(AREA, [...before, input('a', kind, 'text\n', { codec }), ...after])
      yield reading(AREA, [...before, ask('StreamInput', [begin('$a'), stdin('text\n')], { codec }), ...after])
    }
    if (after !== CLOSED) yield reading(AREA, [...before, closeInput('a'), closeInput('a'), ...after])
    const closed = [ask('CloseStdin', { process: pid('a') }, { codec: 'proto' }), ...(after === CLOSED ? [ended('a')] : [])]
    yield reading(AREA, [...before, ...closed, input('a', 'stdin', 'late'), ...after])
  }
  const cat = start('a', { cmd: 'cat' })
  for (const messages of STREAMS) {
    yield reading(AREA, [cat, ask('StreamInput', messages), closeInput('a'), ended('a')])
    if (!messages.some((message) => 'start' in message && 'data' in message)) {
      yield reading(AREA, [cat, ask('StreamInput', messages, { codec: 'proto' }), closeInput('a'), ended('a')])
    }
  }
  for (const bytes of BROKEN) {
    yield reading(AREA, [cat, ask('StreamInput', [begin('$a'), stdin('good'), bytes]), closeInput('a'), ended('a')])
    yield reading(AREA, [cat, ask('StreamInput', [bytes]), closeInput('a'), ended('a')])
    yield reading(AREA, [cat, ask('StreamInput', [bytes, begin('$a')]), closeInput('a'), ended('a')])
  }
  for (const codec of CODECS) yield* liveStreams(codec)
}

/** Streams of requests whose messages are sent one by one. */
function* liveStreams(codec: 'json' | 'proto'): Generator<Scenario> {
  const open: ScriptStep = {
    do: 'open',
    as: 'in',
    call: { method: 'StreamInput', message: [], codec, headers: [['Transfer-Encoding', 'chunked']] },
  }
  const send = (message: object): ScriptStep => ({ do: 'send', stream: 'in', message })
  const cat = start('a', { cmd: 'cat' })
  const [first, second] = [
    [send(stdin('one')), says('a', 'one')],
    [send(stdin('two')), says('a', 'onetwo')],
  ]
  const finish: readonly ScriptStep[] = [{ do: 'finish', stream: 'in' }, ended('in')]
  yield reading(AREA, [cat, open, send(begin('$a')), ...first, ...second, ...finish, closeInput('a'), ended('a')])
  yield reading(AREA, [
    cat,
    open,
    send(begin('$a')),
    ...first,
    { do: 'drop', stream: 'in' },
    input('a', 'stdin', 'two'),
    says('a', 'onetwo'),
    closeInput('a'),
    ended('a'),
  ])
  yield reading(AREA, [cat, open, send(begin('$a')), ...first, closeInput('a'), ended('a'), send(stdin('late')), ended('in')])
  yield reading(AREA, [cat, open, send(begin('$a')), ...first, signal('a'), ended('a'), send(stdin('late')), ended('in')])
  yield reading(AREA, [
    cat,
    start('b', { cmd: 'cat' }),
    open,
    send(begin('$a')),
    ...first,
    send(begin('$b')),
    send(stdin('three')),
    says('b', 'three'),
    ...finish,
    closeInput('a'),
    closeInput('b'),
    ended('a'),
    ended('b'),
  ])
  yield reading(AREA, [cat, open, send({ keepalive: {} }), ...finish, closeInput('a'), ended('a')])
}

function begin(name: string): object {
  return { start: { process: { pid: name } } }
}

function stdin(text: string): object {
  return { data: { input: { stdin: base64(text) } } }
}
