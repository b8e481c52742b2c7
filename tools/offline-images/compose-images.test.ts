import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { STAND_INS } from './stand-ins.ts'

const ROOT = join(import.meta.dirname, '../..')

it('has a stand-in for every image that Compose and its Dockerfile name', () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
  const dockerfile = readFileSync(join(ROOT, 'docker/server/Dockerfile'), 'utf8')
  const ofCompose = [...compose.matchAll(/^\s+image: (?:\$\{\w+:-)?([^\s{}]+)\}?$/gm)].map(([, image]) => image)
  const ofDockerfile = [...dockerfile.matchAll(/^ARG NODE_IMAGE=(\S+)$/gm)].map(([, image]) => image)
  const named = [...ofCompose, ...ofDockerfile].filter((image) => image?.startsWith('sandyard/') === false)
  expect(named.length).toBeGreaterThanOrEqual(5)
  expect(STAND_INS.map(({ image }) => image)).toEqual(expect.arrayContaining(named))
})
