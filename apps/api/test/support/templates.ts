import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { seedIdentity } from '@sandyard/api/seed/seed-identity'
import type { BuildStatus } from '@sandyard/db/schema/build'
import type { TemplateTable } from '@sandyard/db/schema/template'
import { randomId } from '@sandyard/kit/ids/ids'
import { createWorld, type Answer, type Server, type World } from './control-plane.ts'

/** A team and its one user. */
export interface Party {
  readonly teamId: string
  readonly userId: string
  readonly email: string
  readonly slug: string
  readonly apiKey: string
  /** The value of the `Authorization` header. */
  readonly bearer: string
}

export async function seedParty(world: World, teamName: string): Promise<Party> {
  const email = `${teamName.toLowerCase()}@party.test`
  const { teamId, userId, credentials } = await seedIdentity(world.database, { teamName, email })
  if (credentials === undefined) throw new Error(`the team ${teamName} already exists`)
  const bearer = `Bearer ${credentials.accessToken}`
  return { teamId, userId, email, slug: teamName.toLowerCase(), apiKey: credentials.apiKey, bearer }
}

interface TwoTeams {
  readonly world: World
  readonly api: Server
  readonly ours: Party
  readonly theirs: Party
}

/** A server and two teams for the tests of a file. Await it at the top; it is disposed after the last test. */
export async function useTwoTeams(env: Record<string, string> = {}): Promise<TwoTeams> {
  const world = await createWorld()
  afterAll(() => world[Symbol.asyncDispose]())
  const api = await world.startServer({ env })
  return { world, api, ours: await seedParty(world, 'Ours'), theirs: await seedParty(world, 'Theirs') }
}

export async function block(world: World, teamId: string, reason: string | null): Promise<void> {
  await world.database.db
    .updateTable('team')
    .set({ is_blocked: reason !== null, blocked_reason: reason })
    .where('id', '=', teamId)
    .execute()
}

interface NewTemplate {
  readonly alias?: string
  readonly isPublic?: boolean
  readonly createdBy?: string | null
  readonly createdAt?: Date
  readonly source?: TemplateTable['source']
}

/** A template without builds, under a name in the team's own namespace. */
export async function insertTemplate(world: World, party: Party, options: NewTemplate = {}): Promise<string> {
  const { alias, isPublic = false, createdBy = party.userId, createdAt = new Date(), source = 'template' } = options
  const templateId = randomId(20)
  const { db } = world.database
  await db
    .insertInto('template')
    .values({
      template_id: templateId,
      team_id: party.teamId,
      source,
      is_public: isPublic,
      created_by: createdBy,
      created_at: createdAt,
      updated_at: createdAt,
    })
    .execute()
  if (alias !== undefined) {
    await db.insertInto('template_alias').values({ alias, namespace: party.slug, template_id: templateId, is_renamable: true }).execute()
  }
  return templateId
}

interface NewBuild {
  readonly status?: BuildStatus
  /** Default: the default tag. */
  readonly tags?: readonly string[]
  readonly cpuCount?: number
  readonly createdAt?: Date
}

const READY: ReadonlySet<BuildStatus> = new Set(['uploaded', 'success', 'ready'])

export async function insertBuild(world: World, templateId: string, options: NewBuild = {}): Promise<string> {
  const { status = 'uploaded', tags = ['default'], cpuCount = 2, createdAt = new Date() } = options
  const buildId = randomUUID()
  await world.database.db
    .insertInto('build')
    .values({
      build_id: buildId,
      template_id: templateId,
      status,
      cpu_count: cpuCount,
      memory_mib: 512 * cpuCount,
      disk_mib: 1024,
      default_user: 'user',
      default_workdir: '/home/user',
      created_at: createdAt,
      updated_at: createdAt,
      ...(READY.has(status) && { image: `image:${buildId}`, envd_version: '0.6.13' }),
      ...((READY.has(status) || status === 'failed') && { finished_at: createdAt }),
    })
    .execute()
  await assign(world, { templateId, buildId, tags })
  return buildId
}

interface NewAssignment {
  readonly templateId: string
  readonly buildId: string
  readonly tags: readonly string[]
}

export async function assign(world: World, { templateId, buildId, tags }: NewAssignment): Promise<void> {
  if (tags.length === 0) return
  await world.database.db
    .insertInto('tag_assignment')
    .values(tags.map((tag) => ({ template_id: templateId, build_id: buildId, tag })))
    .execute()
}

/** The query of the page after an answer; undefined after the last page. */
export function nextPage({ headers }: Answer): string | undefined {
  const token = headers['x-next-token']
  return typeof token === 'string' ? `nextToken=${encodeURIComponent(token)}` : undefined
}

/** A matcher for an error answer. */
export function refusal(code: number, message: string | RegExp) {
  return { status: code, body: { code, message: typeof message === 'string' ? message : (expect.stringMatching(message) as unknown) } }
}
