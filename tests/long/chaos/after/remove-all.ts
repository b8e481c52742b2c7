import { e2b251 } from '../../../acceptance/support/sdks.ts'
import type { Connection } from '../stack/chaos-stack.ts'

const { Sandbox } = e2b251
const BASE = 'base'

interface ListedTemplate {
  readonly templateID: string
  readonly names?: readonly string[]
  readonly aliases?: readonly string[]
}

/** What the clients did not know of: made by calls without an answer. */
export interface Unclaimed {
  readonly sandboxes: number
  readonly snapshots: number
  readonly templates: number
}

/** Deletes everything of the team but the base template, as its owner would. @param known - ids and names that a client knows */
export async function removeAll(connection: Connection, known: ReadonlySet<string>): Promise<Unclaimed> {
  const sandboxes = await idsOf(Sandbox.list(connection), ({ sandboxId }) => sandboxId)
  for (const id of sandboxes) await Sandbox.kill(id, connection)
  const snapshots = await idsOf(Sandbox.listSnapshots(connection), ({ snapshotId }) => snapshotId)
  for (const id of snapshots) await Sandbox.deleteSnapshot(id, connection)
  const headers = { 'X-API-Key': connection.apiKey }
  const answer = await fetch(`${connection.apiUrl}/templates`, { headers })
  if (!answer.ok) throw new Error(`the templates could not be listed: ${answer.status}`)
  const templates = ((await answer.json()) as ListedTemplate[]).filter((template) => !namesOf(template).includes(BASE))
  for (const { templateID } of templates) {
    const { status } = await fetch(`${connection.apiUrl}/templates/${templateID}`, { method: 'DELETE', headers })
    if (status !== 204) throw new Error(`the template ${templateID} could not be deleted: ${status}`)
  }
  const isUnclaimed = (id: string): boolean => !known.has(id)
  return {
    sandboxes: sandboxes.filter(isUnclaimed).length,
    snapshots: snapshots.filter(isUnclaimed).length,
    templates: templates.filter((template) => namesOf(template).every(isUnclaimed)).length,
  }
}

function namesOf({ names = [], aliases = [] }: ListedTemplate): string[] {
  return [...names, ...aliases].map((name) => name.split('/').at(-1) ?? name)
}

interface Pages<T> {
  readonly hasNext: boolean
  nextItems(): Promise<T[]>
}

async function idsOf<T>(pages: Pages<T>, idOf: (item: T) => string): Promise<string[]> {
  const ids: string[] = []
  while (pages.hasNext) ids.push(...(await pages.nextItems()).map(idOf))
  return ids
}
