// The files are read synchronously, so that little happens between the check and the kill.
import { readdirSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { startDaemonProcess } from './daemon-process.ts'
import { exchange } from './http-exchange.ts'
import { createScratchDirectory } from './scratch-directory.ts'

const PART_BYTES = 4 * 1024 * 1024
const PARTS = Array.from({ length: 8 }, (_, index) => ({ name: `part-${index}`, content: Buffer.alloc(PART_BYTES, index + 1) }))
const OLD = Buffer.alloc(PART_BYTES, 'old')
const NEW = Buffer.concat(PARTS.map(({ content }) => content))

/** How far a compose has come, as the file system shows it. */
export interface Progress {
  readonly elapsedMs: number
  /** Size of the temporary file as a fraction of the result; undefined without a temporary file. */
  readonly copied: number | undefined
  readonly isRenamed: boolean
  readonly sourcesLeft: number
}

export interface KillOutcome {
  /** Which content the destination has. */
  readonly destination: 'old' | 'new'
  readonly sourcesLeft: number
  readonly temporaryFiles: number
  /** Whether the client had its answer before the kill. */
  readonly wasAnswered: boolean
  /** Time from the request to its answer or the kill. */
  readonly elapsedMs: number
}

/**
 * Lets a daemon compose eight files over an existing one, and kills it when `isTime` returns true, or after its answer. With `again` a new
 * daemon then repeats an unfinished compose.
 *
 * @throws Error unless the files are in an allowed state: the old destination and all sources, or the complete new destination and
 * any number of complete sources
 */
export async function killDuringCompose(isTime: (progress: Progress) => boolean, { again = true } = {}): Promise<KillOutcome> {
  await using scratch = await createScratchDirectory()
  const directory = scratch.path
  await Promise.all(PARTS.map(({ name, content }) => writeFile(join(directory, name), content)))
  await writeFile(join(directory, 'destination'), OLD)
  await using runs = await createScratchDirectory()
  await using daemon = await startDaemonProcess(runs.path)
  const { wasAnswered, elapsedMs } = await killWhen(isTime, directory, daemon)
  const outcome = await judge(directory)
  if (wasAnswered && (outcome.destination === 'old' || outcome.sourcesLeft > 0))
    throw new Error('the daemon answered 200, but the compose is not finished')
  if (again && outcome.destination === 'old') await finish(directory, runs.path)
  return { ...outcome, wasAnswered, elapsedMs }
}

async function killWhen(isTime: (progress: Progress) => boolean, directory: string, daemon: { url: string; kill: () => Promise<void> }) {
  const start = performance.now()
  const inode = statSync(join(directory, 'destination')).ino
  const answered: { status?: number } = {}
  const exchanged = requestCompose(directory, daemon.url).then(
    ({ status }) => Object.assign(answered, { status }),
    () => undefined,
  )
  while (answered.status === undefined && !isTime(look(directory, inode, start))) await setImmediate()
  const elapsedMs = performance.now() - start
  await daemon.kill()
  await exchanged
  const { status } = answered
  if (status !== undefined && status !== 200) throw new Error(`the daemon answered ${status}`)
  return { wasAnswered: status !== undefined, elapsedMs }
}

function look(directory: string, inode: number, start: number): Progress {
  const names = readdirSync(directory)
  const temp = names.find((name) => name.endsWith('.tmp'))
  const size = temp === undefined ? undefined : statSync(join(directory, temp), { throwIfNoEntry: false })?.size
  return {
    elapsedMs: performance.now() - start,
    copied: size === undefined ? undefined : size / NEW.length,
    isRenamed: statSync(join(directory, 'destination')).ino !== inode,
    sourcesLeft: names.filter((name) => name.startsWith('part-')).length,
  }
}

function requestCompose(directory: string, url: string) {
  const body = { source_paths: PARTS.map(({ name }) => join(directory, name)), destination: join(directory, 'destination') }
  return exchange(url, { method: 'POST', path: '/files/compose', body: JSON.stringify(body) })
}

async function judge(directory: string): Promise<Pick<KillOutcome, 'destination' | 'sourcesLeft' | 'temporaryFiles'>> {
  const content = await readFile(join(directory, 'destination'))
  const names = readdirSync(directory)
  const left = PARTS.filter(({ name }) => names.includes(name))
  for (const { name, content } of left) {
    if (!(await readFile(join(directory, name))).equals(content)) throw new Error(`${name} has changed`)
  }
  const temporaryFiles = names.filter((name) => name.endsWith('.tmp')).length
  if (content.equals(NEW)) return { destination: 'new', sourcesLeft: left.length, temporaryFiles }
  if (!content.equals(OLD)) throw new Error(`the destination is neither the old one nor the new one: ${content.length} bytes`)
  if (left.length < PARTS.length) throw new Error(`the destination is the old one, but only ${left.length} sources are left`)
  return { destination: 'old', sourcesLeft: left.length, temporaryFiles }
}

/** Repeats the compose: the remains of a kill must not prevent it. */
async function finish(directory: string, runDirectory: string): Promise<void> {
  await using daemon = await startDaemonProcess(runDirectory)
  const { status } = await requestCompose(directory, daemon.url)
  const { destination, sourcesLeft } = await judge(directory)
  if (status !== 200 || destination !== 'new' || sourcesLeft > 0)
    throw new Error(`composing again: ${status}, ${destination}, ${sourcesLeft}`)
}
