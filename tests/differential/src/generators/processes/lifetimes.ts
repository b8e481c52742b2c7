import type { Scenario } from '../../scenario.ts'
import type { WireRequest } from '../../wire/exchange.ts'
import { ask, closeInput, CODECS, connect, ended, input, pid, reading, says, sh, signal, start, TERMINAL } from './steps.ts'

type Headers = WireRequest['headers']

const timeout = (value: string): Headers => [['Connect-Timeout-Ms', value]]
const keepalive = (value: string): Headers => [['Keepalive-Ping-Interval', value]]
const LONG = ['60000', '9999999999', '0060000']
const BAD = ['', 'x', '-5', '1.5', '10000000000', ' 60000', '0x10', '1e3']

/** Deadlines, keepalives, and clients that connect and disconnect (envd.md 6.6, 6.7, 8.6). */
export function* lifetimeScenarios(): Generator<Scenario> {
  for (const codec of CODECS) {
    for (const value of [...LONG, ...BAD]) {
      yield reading('process time', [start('a', { cmd: 'echo', args: ['hi'] }, {}, { codec, headers: timeout(value) }), ended('a')])
      yield reading('process time', [ask('List', {}, { codec, headers: timeout(value) })])
    }
    for (const more of [{}, TERMINAL]) {
      for (const command of [
        { cmd: 'sleep', args: ['60'] },
        sh('trap "" TERM; echo ready; exec sleep 60'),
        sh('echo ready; sleep 3 & wait'),
      ]) {
        yield reading('process time', [
          start('a', command, more, { codec, headers: timeout('400'), endsByTime: true }),
          ended('a'),
          { do: 'gone', stream: 'a' },
          connect('b', pid('a'), { codec }),
          ended('b'),
        ])
        yield reading('process time', [
          start('a', command, more, { codec, headers: timeout('1500'), endsByTime: true }),
          ...(command.cmd === 'sleep' ? [] : [says('a', 'ready', more === TERMINAL ? 'pty' : 'stdout')]),
          connect('b', pid('a'), { codec }),
          ended('a'),
          ended('b'),
        ])
      }
    }
    yield reading('process time', [
      start('a', { cmd: 'sleep', args: ['60'] }, {}, { codec, headers: timeout('500') }),
      { do: 'drop', stream: 'a' },
      { do: 'gone', stream: 'a' },
    ])
    yield reading('process time', [
      start('a', { cmd: 'cat' }, {}, { codec }),
      connect('b', pid('a'), { headers: timeout('300') }),
      ended('b'),
      input('a', 'stdin', 'alive'),
      says('a', 'alive'),
      closeInput('a'),
      ended('a'),
    ])
    yield reading('process time', [
      start('a', { cmd: 'cat' }, {}, { codec }),
      connect('b', pid('a'), { headers: timeout('0') }),
      ended('b'),
      closeInput('a'),
      ended('a'),
    ])
    for (const value of ['1', '90', 'x', '', '1.5', '+1', ' 1', '99999999999999999999']) {
      const isSoon = Number(value) === 1 && !value.includes('.')
      const seen = isSoon ? [{ do: 'await', stream: 'a', until: 'keepalive' } as const] : []
      yield reading('process keepalive', [
        start('a', { cmd: 'cat' }, {}, { codec, headers: keepalive(value) }),
        ...seen,
        closeInput('a'),
        ended('a'),
      ])
    }
  }
  yield reading('process keepalive', [
    start('a', { cmd: 'cat' }),
    connect('b', pid('a'), { headers: keepalive('1') }),
    { do: 'await', stream: 'b', until: 'keepalive' },
    closeInput('a'),
    ended('a'),
    ended('b'),
  ])
  for (const codec of CODECS) yield* subscriberScenarios(codec)
}

function* subscriberScenarios(codec: 'json' | 'proto'): Generator<Scenario> {
  const area = 'process subscribers'
  for (const [more, output] of [
    [{}, 'stdout'],
    [TERMINAL, 'pty'],
  ] as const) {
    const kind = output === 'pty' ? 'pty' : 'stdin'
    const talk = sh('stty -echo 2>/dev/null; echo one; read x; echo two; read x; echo three')
    const begun = [start('a', talk, more, { codec }), says('a', 'one', output)]
    const go = input('a', kind, 'go\n')
    const late = connect('b', pid('a'), { codec })
    yield reading(area, [...begun, late, go, says('b', 'two', output), go, ended('a'), ended('b')])
    yield reading(area, [...begun, late, { do: 'drop', stream: 'a' }, go, says('b', 'two', output), go, ended('b')])
    yield reading(area, [...begun, late, { do: 'drop', stream: 'b' }, go, says('a', 'two', output), go, ended('a')])
    yield reading(area, [...begun, { do: 'drop', stream: 'a' }, ask('List', {}), late, go, says('b', 'two', output), go, ended('b')])
    yield reading(area, [...begun, { do: 'drop', stream: 'a' }, go, go, { do: 'gone', stream: 'a' }, late, ended('b')])
    yield reading(area, [
      ...begun,
      late,
      connect('c', pid('a')),
      connect('d', pid('a'), { codec: 'proto' }),
      go,
      says('c', 'two', output),
      says('d', 'two', output),
      signal('a'),
      ended('a'),
      ended('b'),
      ended('c'),
      ended('d'),
    ])
    const much = sh('stty -echo 2>/dev/null; echo one; read x; seq 1 100000')
    yield reading(area, [
      start('a', much, more, { codec }),
      says('a', 'one', output),
      late,
      connect('c', pid('a')),
      go,
      ended('a'),
      ended('b'),
      ended('c'),
    ])
    yield reading(area, [start('a', much, more, { codec }), says('a', 'one', output), late, { do: 'drop', stream: 'b' }, go, ended('a')])
    yield reading(area, [
      start('a', much, more, { codec }),
      says('a', 'one', output),
      { do: 'drop', stream: 'a' },
      go,
      { do: 'gone', stream: 'a' },
      late,
      ended('b'),
    ])
  }
}
