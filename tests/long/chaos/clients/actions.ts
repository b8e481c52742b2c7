import { e2b251 } from '../../../acceptance/support/sdks.ts'
import { pick, type ClientParts } from './client-parts.ts'
import { knownSandbox, Lost, WrongAnswer, type KnownSandbox } from './known-sandbox.ts'
import { isReportedEnd } from './reported-end.ts'
import { readBack, recall, remember } from './read-back.ts'

/** Longer than any run: a sandbox ends when a client kills it. */
const LIFETIME_MS = 24 * 3_600_000 - 1000
const MAX_CHARACTERS = 40_000
const { Sandbox, Template } = e2b251

/** One kind of operation on a sandbox that runs or is paused. */
type SandboxAction = (parts: ClientParts, known: KnownSandbox) => Promise<void>

/** Creates a sandbox of the base template, a snapshot or a template of this client. */
export async function create(parts: ClientParts): Promise<void> {
  const { connection, images, random, sandboxes } = parts
  const image = images.length > 0 && random(3) === 0 ? pick(random, images) : undefined
  const options = { ...connection, timeoutMs: LIFETIME_MS, metadata: { chaos: String(parts.nextNumber()) } }
  const sandbox = image === undefined ? await Sandbox.create(options) : await Sandbox.create(image.name, options)
  const known = knownSandbox(sandbox, image?.files ?? new Map())
  sandboxes.push(known)
  if (known.files.size > 0) {
    const [path, content] = pick(random, [...known.files])
    await readBack(sandbox, path, content)
  }
}

const write: SandboxAction = async ({ nextNumber, random }, known) => {
  const [path, content] = [`/home/user/file-${nextNumber()}`, textOf(random)]
  await known.sandbox.files.write(path, content)
  known.files.set(path, content)
  if (known.memory === undefined) await remember(known, `memory ${nextNumber()}`)
}

const read: SandboxAction = async (parts, known) => {
  const { random } = parts
  if (known.files.size === 0) return recall(parts, known)
  const [path, content] = pick(random, [...known.files])
  await readBack(known.sandbox, path, content)
}

const command: SandboxAction = async ({ nextNumber }, known) => {
  const number = nextNumber()
  const path = `/home/user/said-${number}`
  const { stdout, exitCode } = await known.sandbox.commands.run(`echo "number ${number}" | tee ${path}; sync ${path}`)
  if (stdout !== `number ${number}\n` || exitCode !== 0) throw new WrongAnswer(`a command of ${known.id} printed ${JSON.stringify(stdout)}`)
  known.files.set(path, stdout)
}

const pause: SandboxAction = async (parts, known) => {
  const keepMemory = parts.random(3) > 0
  const wasRunning = known.state === 'running'
  known.state = 'unsure'
  if (!keepMemory) known.memory = undefined
  const paused = await known.sandbox.pause({ keepMemory })
  // The SDK says so of one that is ending, too.
  if (!paused && wasRunning && !(await isReportedEnd(parts, known.id)))
    throw new WrongAnswer(`${known.id} was said to be paused already, but it ran`)
  if (!paused && wasRunning) return
  known.state = 'paused'
  const { state } = await known.sandbox.getInfo()
  if (state !== 'paused') throw new WrongAnswer(`${known.id} is ${state} after an acknowledged pause`)
}

const connect: SandboxAction = async (parts, known) => {
  const { connection, random } = parts
  known.sandbox = await Sandbox.connect(known.id, { ...connection, timeoutMs: LIFETIME_MS })
  known.state = 'running'
  await recall(parts, known)
  if (known.files.size === 0) return
  const [path, content] = pick(random, [...known.files])
  await readBack(known.sandbox, path, content)
}

const snapshot: SandboxAction = async ({ images }, known) => {
  const files = new Map(known.files)
  const { snapshotId } = await known.sandbox.createSnapshot()
  images.push({ name: snapshotId, kind: 'snapshot', files })
}

const fork: SandboxAction = async ({ connection, random, sandboxes }, known) => {
  const files = new Map(known.files)
  const count = 1 + random(2)
  const results = await Sandbox.fork(known.id, { ...connection, count, timeoutMs: LIFETIME_MS })
  if (results.length !== count) throw new WrongAnswer(`a fork of ${known.id} into ${count} had ${results.length} results`)
  const made = results.filter((result) => result instanceof Sandbox)
  sandboxes.push(...made.map((sandbox) => ({ ...knownSandbox(sandbox, files), deniedAddresses: known.deniedAddresses })))
  const failed = results.find((result) => result instanceof Error)
  if (failed !== undefined) throw failed
}

const kill: SandboxAction = async (parts, known) => {
  const { connection, sandboxes } = parts
  const wasSent = known.isKillSent
  known.isKillSent = true
  const killed = await Sandbox.kill(known.id, connection)
  sandboxes.splice(sandboxes.indexOf(known), 1)
  if (!killed && !wasSent && !(await isReportedEnd(parts, known.id))) throw new Lost(`the sandbox ${known.id}: a kill did not find it`)
  const info = await Sandbox.getInfo(known.id, connection).catch((err: unknown) => {
    if (err instanceof e2b251.NotFoundError) return undefined
    throw err
  })
  if (info !== undefined) throw new WrongAnswer(`${known.id} is ${info.state} after an acknowledged kill`)
}

const network: SandboxAction = async ({ nextNumber }, known) => {
  const number = nextNumber()
  const denyOut = [`198.51.${(number >> 8) % 256}.${number % 256}`]
  known.deniedAddresses = undefined
  await known.sandbox.updateNetwork({ denyOut })
  known.deniedAddresses = denyOut
}

const info: SandboxAction = async ({ connection }, known) => {
  const { state, network } = await Sandbox.getInfo(known.id, connection)
  if (known.state !== 'unsure' && state !== known.state) throw new WrongAnswer(`${known.id} is ${state}, and was ${known.state}`)
  const { deniedAddresses: expected } = known
  const denied = network?.denyOut ?? []
  if (expected !== undefined && denied.join() !== expected.join())
    throw new WrongAnswer(`${known.id} denies ${denied.join() || 'nothing'}, and should ${expected.join() || 'nothing'}`)
}

/** Builds a template with one file. */
export async function build({ connection, images, index, nextNumber }: ClientParts): Promise<void> {
  const number = nextNumber()
  const name = `chaos-${index}-${number}`
  const template = Template().fromTemplate('base').runCmd(`echo "built ${number}" > /home/user/built`)
  await Template.build(template, name, { ...connection, cpuCount: 1, memoryMB: 256 })
  images.push({ name, kind: 'template', files: new Map([['/home/user/built', `built ${number}\n`]]) })
}

function textOf(random: ClientParts['random']): string {
  return `${random(2 ** 31)}-`.repeat(1 + random(MAX_CHARACTERS / 10))
}

/** By name, for sandboxes that exist. */
export const SANDBOX_ACTIONS = { write, read, command, pause, connect, snapshot, fork, kill, network, info }
