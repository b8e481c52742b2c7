import { e2b251 } from '../../../acceptance/support/sdks.ts'
import { settle } from '../clients/client.ts'
import type { ClientParts } from '../clients/client-parts.ts'
import { isReportedEnd } from '../clients/reported-end.ts'
import { Lost, WrongAnswer, type KnownImage, type KnownSandbox, type Sandbox } from '../clients/known-sandbox.ts'
import { readBack, recall } from '../clients/read-back.ts'

const { Sandbox } = e2b251
const LIFETIME_MS = 3_600_000

/** Reads everything that was acknowledged to a client, when nothing is killed any more: all files of its sandboxes, snapshots and templates. */
export async function verifyClient(parts: ClientParts): Promise<void> {
  for (const known of parts.sandboxes.slice()) {
    if (known.state === 'unsure' || known.isKillSent) await settle(parts, known)
    if (parts.sandboxes.includes(known)) await judge(parts, `the sandbox ${known.id}`, () => verifySandbox(parts, known))
  }
  for (const image of parts.images) await judge(parts, `the ${image.kind} ${image.name}`, () => verifyImage(parts, image))
}

async function verifySandbox(parts: ClientParts, known: KnownSandbox): Promise<void> {
  const { connection } = parts
  const found = await Sandbox.getInfo(known.id, connection).catch((err: unknown) => {
    if (err instanceof e2b251.NotFoundError) return undefined
    throw err
  })
  if (found === undefined && (await isReportedEnd(parts, known.id))) return
  if (found === undefined) throw new Lost(`the sandbox ${known.id}`)
  const { state } = found
  if (state !== known.state) throw new WrongAnswer(`${known.id} is ${state}, and was ${known.state}`)
  known.sandbox = await Sandbox.connect(known.id, { ...connection, timeoutMs: LIFETIME_MS })
  await recall(parts, known)
  await readAll(known.sandbox, known.files)
}

async function verifyImage({ connection }: ClientParts, { name, files }: KnownImage): Promise<void> {
  const sandbox = await Sandbox.create(name, { ...connection, timeoutMs: LIFETIME_MS })
  try {
    await readAll(sandbox, files)
  } finally {
    await sandbox.kill()
  }
}

async function readAll(sandbox: Sandbox, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, content] of files) await readBack(sandbox, path, content)
}

/** Nothing is killed now, so any failure means that the thing is not what it was. */
async function judge({ tally }: ClientParts, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (err) {
    if (err instanceof WrongAnswer) tally.wrong.push(err.message)
    else tally.lost.push(err instanceof Lost ? err.message : `${what} (${String(err)})`)
  }
}
