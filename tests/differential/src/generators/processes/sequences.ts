import type { Random } from '../../random.ts'
import type { Scenario } from '../../scenario.ts'
import type { ScriptStep } from '../../script/script.ts'
import { ask, closeInput, connect, ended, input, pid, reading, says, sh, signal, start, TERMINAL, type Codec } from './steps.ts'

const LENGTH = 10
const NAMES = ['a', 'b', 'c']
/** Prints `ready`, answers each line, and exits at the end of its input or at `exit`. */
const TALK = sh(
  'stty -echo 2>/dev/null; echo ready; while read x; do case $x in exit) exit 4 ;; err) echo "to err" >&2 ;; *) echo "<$x>" ;; esac; done; echo over',
)

/** The state of one process in a script. */
interface Talker {
  readonly name: string
  readonly isTerminal: boolean
  readonly tag: string
  readonly subscribers: string[]
  isOver: boolean
}

/** Random scripts with up to three processes that answer their input; waits for every certain result. Endless. */
export function* processSequences(random: Random): Generator<Scenario> {
  for (let script = 0; ; script++) yield reading('process sequences', [...makeScript(random, script)])
}

function* makeScript(random: Random, script: number): Generator<ScriptStep> {
  const talkers: Talker[] = []
  for (let step = 0; step < LENGTH; step++) {
    const codec = random.pick(['json', 'proto'] as const)
    const name = NAMES[talkers.length]
    if (name !== undefined && (talkers.length === 0 || random.oneIn(5))) {
      const talker = {
        name,
        isTerminal: random.oneIn(3),
        tag: `sequence ${script} ${name}`,
        subscribers: [name],
        isOver: false,
      }
      talkers.push(talker)
      yield start(name, TALK, { tag: talker.tag, ...(talker.isTerminal ? TERMINAL : {}) }, { codec })
      yield says(name, 'ready', outputOf(talker))
    } else yield* go(random, random.pick(talkers), { step, codec, isAlone: talkers.length === 1 })
  }
  for (const talker of talkers) yield* finish(talker)
  yield ask('List', {})
}

function* go(
  random: Random,
  talker: Talker,
  { step, codec, isAlone }: { step: number; codec: Codec; isAlone: boolean },
): Generator<ScriptStep> {
  // The reference daemon does not reliably find a tag if other processes have tags.
  const process = isAlone && random.oneIn(2) ? { tag: talker.tag } : pid(talker.name)
  const kind = talker.isTerminal ? 'pty' : 'stdin'
  switch (random.below(9)) {
    case 0:
      return yield* listen(talker, `${talker.name}${step}`, process, codec)
    case 1:
      yield ask('Update', { process, pty: { size: { cols: random.below(300), rows: random.below(100) } } }, { codec })
      return
    case 2:
      return yield ask('List', {}, { codec })
    case 3:
      yield input(talker.name, random.pick(['stdin', 'pty']), '', { codec })
      return
    case 4:
      if (!random.oneIn(3)) return
      yield closeInput(talker.name)
      if (!talker.isTerminal) yield* waitForEnd(talker)
      return
    case 5:
      if (!random.oneIn(3) || talker.isOver) return
      yield signal(talker.name, random.pick(['SIGNAL_SIGTERM', 'SIGNAL_SIGKILL']))
      return yield* waitForEnd(talker)
    default: {
      const word = random.oneIn(8) ? 'exit' : `word${step}`
      yield ask('StreamInput', [{ start: { process } }, { data: { input: { [kind]: Buffer.from(`${word}\n`).toString('base64') } } }], {
        codec,
      })
      if (talker.isOver) return
      if (word === 'exit') yield* waitForEnd(talker)
      else for (const subscriber of talker.subscribers) yield says(subscriber, `<${word}>`, outputOf(talker))
    }
  }
}

function* listen(talker: Talker, name: string, process: object, codec: Codec): Generator<ScriptStep> {
  yield connect(name, process, { codec })
  if (talker.isOver) yield ended(name)
  else talker.subscribers.push(name)
}

function* waitForEnd(talker: Talker): Generator<ScriptStep> {
  if (talker.isOver) return
  talker.isOver = true
  for (const subscriber of talker.subscribers) yield ended(subscriber)
}

function* finish(talker: Talker): Generator<ScriptStep> {
  if (talker.isOver) return
  yield signal(talker.name)
  yield* waitForEnd(talker)
}

function outputOf({ isTerminal }: Talker): 'stdout' | 'pty' {
  return isTerminal ? 'pty' : 'stdout'
}
