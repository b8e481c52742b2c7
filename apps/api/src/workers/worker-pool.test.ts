import { AppError } from '@sandyard/kit/errors/app-error'
import { afterAll, describe, expect, it } from 'vitest'
import { WorkerPool } from './worker-pool.ts'

type Job = { readonly command: 'echo' | 'spin' | 'fill' | 'refuse' | 'throw'; readonly bytes?: Uint8Array }

const WORKER = `
import { serveJobs } from ${JSON.stringify(new URL('./serve-jobs.ts', import.meta.url).href)}
import { AppError } from ${JSON.stringify(import.meta.resolve('@sandyard/kit/errors/app-error'))}
serveJobs(({ command, bytes }) => {
  if (command === 'spin') while (true);
  const filled = []
  if (command === 'fill') while (true) filled.push(new Array(1000).fill({}))
  if (command === 'refuse') throw new AppError('invalid_argument', 'refused')
  if (command === 'throw') throw new Error('a bug')
  return bytes?.length ?? command
})
`
const settings = {
  module: new URL(`data:text/javascript,${encodeURIComponent(WORKER)}`),
  width: 1,
  waiting: 2,
  waitingPerOwner: 1,
  memoryMib: 16,
}
const pool = new WorkerPool<Job, unknown>(settings)
afterAll(() => pool[Symbol.asyncDispose]())

const options = {
  owner: 'a',
  timeoutMs: 60_000,
  onTimeout: () => new AppError('deadline_exceeded', 'late'),
  onOutOfMemory: (cause: unknown) => new AppError('invalid_argument', 'too large', { cause }),
}
const run = (job: Job, timeoutMs = options.timeoutMs, owner = 'a'): Promise<unknown> => pool.run(job, { ...options, timeoutMs, owner })

describe('WorkerPool', () => {
  it('ends a thread that exceeds its time without blocking the event loop, and serves the next job', async () => {
    let turns = 0
    const turning = setInterval(() => (turns += 1))
    await expect(run({ command: 'spin' }, 500)).rejects.toThrow('late')
    clearInterval(turning)
    expect(turns).toBeGreaterThan(10)
    expect(await run({ command: 'echo' })).toBe('echo')
  })

  it('ends a thread that exceeds its heap', async () => {
    await expect(run({ command: 'fill' })).rejects.toMatchObject({
      kind: 'invalid_argument',
      cause: { code: 'ERR_WORKER_OUT_OF_MEMORY' },
    })
    expect(await run({ command: 'echo' })).toBe('echo')
  })

  it('rejects with the AppError of a job, and with another error when the thread fails', async () => {
    await expect(run({ command: 'refuse' })).rejects.toMatchObject({ kind: 'invalid_argument', message: 'refused' })
    const broken = run({ command: 'throw' })
    await expect(broken).rejects.toThrow('a bug')
    await expect(broken).rejects.not.toBeInstanceOf(AppError)
  })

  it('refuses more jobs than may wait, of one owner and of all', async () => {
    const echo = (owner: string): Promise<unknown> => run({ command: 'echo' }, undefined, owner)
    const jobs = [echo('a'), echo('a')]
    const refusal = { kind: 'resource_exhausted', headers: { 'retry-after': '1' } }
    const ofOwner = { ...refusal, message: 'This team or client has too many large requests in flight: try again' }
    await expect(echo('a')).rejects.toMatchObject(ofOwner)
    jobs.push(echo('b'))
    const ofAll = { ...refusal, message: 'The server has too many large requests in flight: try again' }
    await expect(echo('c')).rejects.toMatchObject(ofAll)
    expect(await Promise.all(jobs)).toEqual(['echo', 'echo', 'echo'])
  })

  it('refuses running, waiting and later jobs once it is disposed', async () => {
    const stopping = new WorkerPool<Job, unknown>({ ...settings, waiting: 1 })
    const jobs = [stopping.run({ command: 'spin' }, options), stopping.run({ command: 'echo' }, options)]
    const outcomes = Promise.allSettled(jobs)
    await stopping[Symbol.asyncDispose]()
    const refused = { status: 'rejected', reason: { kind: 'unavailable' } }
    expect(await outcomes).toMatchObject([refused, refused])
    await expect(stopping.run({ command: 'echo' }, options)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('transfers buffers without a copy', async () => {
    const bytes = new Uint8Array(1000)
    const sent = pool.run({ command: 'echo', bytes }, { ...options, transfer: [bytes.buffer] })
    expect(await sent).toBe(1000)
    expect(bytes.length).toBe(0)
  })
})
