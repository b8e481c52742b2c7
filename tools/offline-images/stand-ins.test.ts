import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { NODE_VERSIONS } from './fetch-node.ts'
import { postgresVersion } from './fetch-postgres.ts'
import { sourcesHash } from './sources-hash.ts'
import { repositoryOf, type Recipe, type StandIn } from './stand-in.ts'
import { STAND_INS } from './stand-ins.ts'

const byRepository = new Map(STAND_INS.map((standIn) => [repositoryOf(standIn.image), standIn]))
const tagOf = (repository: string): string => byRepository.get(repository)?.image.slice(repository.length + 1) ?? ''

it('has the versions in its names that it is made of', () => {
  expect(byRepository.size).toBe(STAND_INS.length)
  expect(tagOf('node')).toBe(`${NODE_VERSIONS.node}-bookworm-slim`)
  expect(tagOf('postgres')).toBe(`${postgresVersion().split('.').slice(0, 2).join('.')}-bookworm`)
})

it('builds every recipe on the Debian image, which comes first', async () => {
  const [debian, ...others] = STAND_INS
  expect(debian?.recipe).toBe('debian')
  for (const { recipe } of others) {
    if (typeof recipe === 'string') continue
    const from = (await readFile(new URL('Dockerfile', recipe.folder), 'utf8')).match(/^FROM .*$/gm)
    expect(from).toEqual([`FROM ${debian?.image}`])
  }
})

it('makes an image again when its versions or the authorities of the host change', async () => {
  const node = byRepository.get('node') as StandIn
  const changed = { ...node, recipe: { ...(node.recipe as Recipe), versions: { node: '24.21.1' } } }
  const hash = await sourcesHash(node, undefined)
  expect(await sourcesHash(node, undefined)).toBe(hash)
  expect(await sourcesHash(changed, undefined)).not.toBe(hash)
  expect(await sourcesHash(node, { bundle: 'x', extra: ['x'] })).not.toBe(hash)
})
