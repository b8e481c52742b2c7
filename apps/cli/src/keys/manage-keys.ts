import { createInterface } from 'node:readline'
import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import type { CliParts } from '../cli-parts.ts'
import { confirm } from '../confirm.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { agoText, untilText } from '../time-text.ts'
import { chooseTeam, turnOf } from './choose-team.ts'
import { createKey, deleteKeys, findKey, type KeyView, listKeys, renameKey } from './key-queries.ts'
import { resolveKey } from './resolve-key.ts'

const DAY_MS = 24 * 3_600_000

export interface CreateOptions {
  readonly team?: string
  /** Milliseconds from now. */
  readonly expires?: number
  readonly scope?: KeyScope
}

export interface ListOptions {
  readonly team?: string
  readonly unused?: number
}

export async function showKeys(parts: CliParts, { team, unused }: ListOptions): Promise<void> {
  const { db } = await parts.database()
  const teamId = team === undefined ? undefined : (await chooseTeam(parts, db, team)).id
  const found = (await listKeys(db, { teamId })).filter((key) => unused === undefined || isUnused(key, unused))
  const { output } = parts
  output.result(found, () => {
    output.table(
      ['ID', 'NAME', 'KEY', 'TEAM', 'SCOPE', 'CREATED', 'LAST USE', 'ENDS'],
      found.map(({ id, name, mask, team, createdAt, lastUsedAt, expiresAt, scope }) => [
        id,
        name,
        mask,
        team,
        scope ?? 'all',
        agoText(createdAt),
        lastUsedAt === undefined ? 'never' : agoText(lastUsedAt),
        expiresAt === undefined ? 'never' : endText(expiresAt),
      ]),
    )
    if (found.length === 0) output.say('There are no such keys.')
  })
}

function isUnused({ createdAt, lastUsedAt }: KeyView, days: number): boolean {
  return Date.now() - Date.parse(lastUsedAt ?? createdAt) >= days * DAY_MS
}

function endText(time: string): string {
  return Date.parse(time) <= Date.now() ? 'ended' : `in ${untilText(time)}`
}

export async function makeKey(parts: CliParts, name: string, { team, expires, scope }: CreateOptions): Promise<void> {
  const database = await parts.database()
  const chosen = await chooseTeam(parts, database.db, team)
  const { slug } = chosen
  const expiresAt = expires === undefined ? undefined : new Date(Date.now() + expires)
  const { id, key } = await createKey(database, turnOf(chosen), { name, expiresAt, scope })
  const { output } = parts
  output.result({ id, name, team: slug, key, expiresAt: expiresAt?.toISOString(), scope }, () => output.line(key))
  output.say(`The key "${name}" of the team ${slug} is shown only now: keep it. Its id is ${id}.`)
}

export async function tellKey(parts: CliParts): Promise<void> {
  const { db } = await parts.database()
  const { output } = parts
  const key = await findKey(db, await readRawKey(parts))
  if (key === undefined)
    throw new CliFailure(EXIT.notFound, 'No key of this installation has this value: it was never issued here, or is revoked.')
  const { id, name, team } = key
  output.result({ id, name, team: team.slug }, () => output.line(`${id} is "${name}" of the team ${team.slug}`))
  output.say(`To end it: sandyard keys revoke ${id}`)
}

export async function changeKeyName(parts: CliParts, id: string, name: string): Promise<void> {
  const { db } = await parts.database()
  const key = await resolveKey(db, id)
  if (!(await renameKey(db, key.id, name))) throw new CliFailure(EXIT.notFound, `The key ${key.id} was deleted meanwhile.`)
  parts.output.result({ id: key.id, name }, () => parts.output.line(`${key.id} is now "${name}"`))
}

export async function revokeKeys(parts: CliParts, ids: readonly string[], yes: boolean | undefined): Promise<void> {
  const database = await parts.database()
  const { db } = database
  const found = new Map<string, KeyView>()
  for (const id of ids) {
    const key = await resolveKey(db, id)
    found.set(key.id, key)
  }
  const keys = [...found.values()]
  const own = parts.connection.apiKey && (await findKey(db, parts.connection.apiKey.reveal()))
  if (keys.some(({ id }) => id === own?.id)) parts.output.say('One of them is the key that this command line itself uses.')
  const names = keys.map(({ name, mask }) => `"${name}" (${mask})`).join(', ')
  await confirm(parts, `Revoke ${names}? Programs that use ${keys.length === 1 ? 'it' : 'them'} get 401.`, yes)
  const isDone = await deleteKeys(
    database,
    keys.map(({ id }) => id),
  )
  if (!isDone) throw new CliFailure(EXIT.notFound, 'One of the keys was deleted meanwhile; none was revoked.')
  parts.output.result(
    keys.map(({ id, name }) => ({ id, name })),
    () => keys.forEach(({ id }) => parts.output.line(`${id} revoked`)),
  )
}

/** The first line of stdin: an argument would be in the history of the shell and in the list of processes. */
async function readRawKey({ stdin, output, signal }: CliParts): Promise<string> {
  if (stdin.isTTY) output.say('Paste the key and press Enter.')
  const lines = createInterface({ input: stdin, signal })
  try {
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
  }
}
