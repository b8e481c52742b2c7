import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { queueBuild, findBuild } from '../../api/test/support/builds.ts'
import { ADMIN_TOKEN } from '../../api/test/support/control-plane.ts'
import { createBench, createSandbox, type Bench } from './support/bench.ts'

let bench: Bench
const endless = () => new Promise<never>(() => undefined)
beforeAll(async () => {
  bench = await createBench({ loops: true, buildRunner: endless })
})
afterAll(() => bench[Symbol.asyncDispose]())

const run = (...args: string[]) => bench.sandyard(args, { env: { SANDYARD_ADMIN_TOKEN: ADMIN_TOKEN } })
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout)
const works = async () => (await bench.server.call('GET', '/v2/sandboxes')).status
const canCreate = async () => (await bench.server.call('POST', '/v2/sandboxes', { body: { templateID: 'absent' } })).body.message

describe('sandyard teams', () => {
  it('creates, lists, renames and deletes teams', async () => {
    const made = await json('teams', 'create', 'Neue Gruppe', '--email', 'a@b.test')
    expect(made).toMatchObject({ slug: 'neue-gruppe', name: 'Neue Gruppe', email: 'a@b.test', isBanned: false, isBlocked: false })
    expect((await run('teams', 'create', 'Neue Gruppe', '--email', 'a@b.test')).stderr).toContain(
      "A team with the slug 'neue-gruppe' exists",
    )
    expect((await json('teams', 'list')).map(({ slug }: { slug: string }) => slug)).toEqual(['neue-gruppe', 'acme'])
    expect(await json('teams', 'list', '--search', 'NEUE')).toEqual([made])
    expect(await json('teams', 'rename', 'neue-gruppe', 'Anders')).toEqual({ ...made, name: 'Anders' })
    expect((await run('teams', 'delete', 'neue-gruppe')).code).toBe(4)
    expect(await run('teams', 'delete', 'neue-gruppe', '--yes')).toMatchObject({ code: 0, stdout: 'neue-gruppe deleted\n' })
    expect(await run('teams', 'delete', 'neue-gruppe', '--yes')).toMatchObject({ code: 3 })
    const { stdout } = await run('teams', 'ls')
    expect(stdout).toMatch(/acme +Acme +dev@acme\.test +active/)
  })

  it.each([
    ['create', ''],
    ['create', 'fine', '--email', 'none'],
    ['create', 'fine', '--email', 'a@b.test', '--slug', 'No'],
    ['create', 'fine'],
    ['block', 'acme', '--reason', ' '],
  ])('refuses %s %s', async (...args) => {
    expect((await run('teams', ...args)).code).toBe(2)
    expect(await json('teams', 'list')).toHaveLength(1)
  })

  it('blocks and bans a team, which servers hear of at once', async () => {
    await expect.poll(canCreate).toContain("template 'absent' not found")
    expect((await run('teams', 'block', 'acme', '--reason', 'unpaid')).stdout).toMatch(/state +blocked: unpaid/)
    await expect.poll(canCreate).toBe('team is blocked: unpaid')
    expect((await json('teams', 'unblock', 'acme')).blockedReason).toBeNull()
    await expect.poll(canCreate).toContain('not found')
    await run('teams', 'ban', 'acme')
    await expect.poll(works).toBe(403)
    await run('teams', 'unban', 'acme')
    await expect.poll(works).toBe(200)
  })

  it('adds and removes members by their addresses', async () => {
    await run('teams', 'create', 'Second', '--email', 'a@b.test')
    const user = await json('users', 'create', 'new@example.test')
    expect((await run('teams', 'add-member', 'acme', 'new@example.test')).stdout).toBe('new@example.test is a member of acme\n')
    await run('teams', 'add-member', 'second', user.id, '--default')
    expect(await json('teams', 'members', 'second')).toMatchObject([{ email: 'new@example.test', isDefault: true }])
    await run('teams', 'remove-member', 'second', 'new@example.test')
    expect(await run('teams', 'remove-member', 'second', 'new@example.test')).toMatchObject({ code: 3 })
    expect(await json('teams', 'members', 'acme')).toMatchObject([{ id: user.id, isDefault: true }, { isDefault: true }])
    expect((await run('teams', 'add-member', 'acme', 'nobody@example.test')).stderr).toContain('There is no user "nobody@example.test"')
  })

  it('kills the sandboxes and cancels the builds of a team through the API', async () => {
    await createSandbox(bench)
    await createSandbox(bench)
    const buildId = await queueBuild(bench.world)
    expect(await run('teams', 'kill', 'acme')).toMatchObject({ code: 4, stdout: '' })
    expect(await run('teams', 'kill', 'acme', '--yes')).toMatchObject({ code: 0, stdout: '2 sandboxes killed\n' })
    expect(await json('teams', 'cancel-builds', 'acme', '--yes')).toEqual({ cancelledCount: 1, failedCount: 0 })
    await expect.poll(async () => (await findBuild(bench.world, buildId)).reason_message).toBe('cancelled by admin')
    const without = await bench.sandyard(['teams', 'kill', 'acme', '--yes'])
    expect([without.code, without.stderr]).toEqual([4, expect.stringContaining('SANDYARD_ADMIN_TOKEN')])
    const wrong = await bench.sandyard(['teams', 'kill', 'acme', '--yes'], { env: { SANDYARD_ADMIN_TOKEN: 'wrong' } })
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('refuses the token')])
  })
})

it('creates, lists and deletes users', async () => {
  const made = await json('users', 'create', 'other@example.test')
  expect(made).toEqual({ id: expect.any(String), email: 'other@example.test', createdAt: expect.any(String) })
  expect((await run('users', 'create', 'other@example.test')).code).toBe(1)
  expect((await run('users', 'create', 'none')).code).toBe(2)
  expect(await json('users', 'list', '--search', 'OTHER')).toEqual([made])
  expect((await run('users', 'delete', made.id)).code).toBe(4)
  expect(await run('users', 'delete', 'other@example.test', '--yes')).toMatchObject({ code: 0, stdout: 'other@example.test deleted\n' })
  expect(await run('users', 'delete', made.id, '--yes')).toMatchObject({ code: 3 })
})

describe('sandyard nodes', () => {
  it('lists nodes, drains one and makes it ready', async () => {
    const [node] = await json('nodes', 'list')
    expect(node).toMatchObject({ status: 'ready', id: String(bench.server.ctx.sandboxes.serverId) })
    expect((await run('nodes', 'drain', node.id)).stdout).toBe(`${node.id} is draining\n`)
    expect((await bench.server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).status).toBe(503)
    expect((await run('nodes', 'ls')).stdout).toMatch(new RegExp(`${node.id} +draining`))
    expect(await json('nodes', 'drain', node.id, '--keep-builds')).toEqual({ id: node.id, status: 'standby' })
    expect((await run('nodes', 'ready', node.id)).code).toBe(0)
    expect((await bench.server.call('POST', '/v2/sandboxes', { body: { templateID: 'base' } })).status).toBe(201)
    expect(await run('nodes', 'drain', '1')).toMatchObject({ code: 3, stderr: expect.stringContaining('There is no node "1"') })
  })
})
