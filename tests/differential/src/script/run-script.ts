import { pollUntil } from '@sandyard/kit/async/poll-until'
import { isAppError } from '@sandyard/kit/errors/app-error'
import { readAnswer, type Reading } from '../compare/reading.ts'
import type { Twin } from '../twins/twin.ts'
import { toEnvelope, toRequest } from '../wire/process-call.ts'
import { OpenCall } from './open-call.ts'
import type { Call, Script, ScriptStep } from './script.ts'
import { isJson, outputOf, pidOf, readEvents } from './stream-reading.ts'
import { withoutPids } from './without-pids.ts'

/** The result of a script on one side. */
export interface ScriptResult {
  /** Answers by the index of their step; the answer of a stream is at the step that opened it. */
  readonly readings: readonly (Reading | undefined)[]
  /** Waits that timed out, and processes that could not be ended. */
  readonly late: readonly string[]
}

interface Stream {
  readonly open: OpenCall
  readonly call: Call
  readonly index: number
  isDropped: boolean
}

const WAIT = { timeoutMs: 10_000, everyMs: 4 }

/** Performs the steps one after another, and then ends every remaining process. */
export async function runScript(twin: Twin, script: Script): Promise<ScriptResult> {
  const run = new ScriptRun(twin)
  for (const [index, step] of script.entries()) await run.perform(step, index)
  return run.finish()
}

class ScriptRun {
  readonly #twin: Twin
  readonly #streams = new Map<string, Stream>()
  readonly #pids = new Map<string, number>()
  readonly #readings: (Reading | undefined)[] = []
  readonly #late: string[] = []

  constructor(twin: Twin) {
    this.#twin = twin
  }

  async perform(step: ScriptStep, index: number): Promise<void> {
    this.#readings[index] = undefined
    switch (step.do) {
      case 'open':
        return this.#open(step.as, step.call, index)
      case 'ask': {
        const request = toRequest(step.call, this.#pids)
        const answer = readAnswer(await this.#twin.send(request), request)
        this.#readings[index] = readEvents(answer, step.call)
        const pid = pidOf(answer)
        if (pid !== undefined) this.#pids.set(String(index), pid)
        return
      }
      case 'await':
        return this.#wait(`step ${index}`, () => this.#has(this.#stream(step.stream), step.until))
      case 'gone':
        return this.#wait(`step ${index}`, async () => !(await this.#listPids()).includes(this.#pids.get(step.stream) ?? 0))
      case 'send': {
        const { open, call } = this.#stream(step.stream)
        return open.send(Buffer.isBuffer(step.message) ? step.message : toEnvelope(call, step.message, this.#pids))
      }
      case 'finish':
        return this.#stream(step.stream).open.finish()
      case 'drop': {
        const stream = this.#stream(step.stream)
        stream.isDropped = true
        return stream.open.drop()
      }
    }
  }

  async finish(): Promise<ScriptResult> {
    await this.#wait('end of all processes', async () => {
      const pids = await this.#listPids()
      for (const pid of pids) await this.#call('SendSignal', { process: { pid }, signal: 'SIGNAL_SIGKILL' })
      return pids.length === 0
    })
    for (const [name, { open, call, index, isDropped }] of this.#streams) {
      if (isDropped) continue
      if (call.method === 'StreamInput') open.finish()
      await this.#wait(`end of ${name}`, () => open.isClosed)
      this.#readings[index] = readEvents(readAnswer(open.answer(), open.request), call)
      open.drop()
    }
    if (this.#late.some((what) => what.startsWith('end of all'))) await this.#twin.restart()
    return {
      readings: this.#readings.map((reading) => reading && { ...reading, body: withoutPids(reading.body, this.#pids) }),
      late: this.#late,
    }
  }

  async #open(name: string, call: Call, index: number): Promise<void> {
    const open = new OpenCall(this.#twin.daemon, toRequest(call, this.#pids))
    this.#streams.set(name, { open, call, index, isDropped: false })
    if (call.method === 'StreamInput') return
    await this.#wait(`step ${index}`, () => {
      const pid = pidOf(readAnswer(open.answer(), open.request))
      if (pid !== undefined) this.#pids.set(name, pid)
      return pid !== undefined || open.isClosed
    })
  }

  #has({ open }: Stream, until: Extract<ScriptStep, { do: 'await' }>['until']): boolean {
    if (open.isClosed || until === 'end') return open.isClosed
    const reading = readAnswer(open.answer(), open.request)
    if (until === 'keepalive') return JSON.stringify(reading.body).includes('"keepalive"')
    return outputOf(reading, until.output).includes(until.text)
  }

  #stream(name: string): Stream {
    const stream = this.#streams.get(name)
    if (stream === undefined) throw new Error(`no stream is called ${name}`)
    return stream
  }

  async #wait(what: string, isDone: () => Promise<boolean> | boolean): Promise<void> {
    try {
      await pollUntil({ what, ...WAIT }, async () => ((await isDone()) ? true : undefined))
    } catch (error) {
      if (!isAppError(error, 'deadline_exceeded')) throw error
      this.#late.push(what)
    }
  }

  async #listPids(): Promise<number[]> {
    const { body } = await this.#call('List', {})
    const processes = isJson(body) ? (body['processes'] ?? []) : []
    return Array.isArray(processes) ? processes.map((process) => (isJson(process) ? Number(process['pid']) : 0)) : []
  }

  async #call(method: Call['method'], message: object): Promise<Reading> {
    const request = toRequest({ method, message })
    return readAnswer(await this.#twin.send(request), request)
  }
}
