import { imageFilter, KEPT_REPOSITORY, REMOVED_REPOSITORY, SNAPSHOT_REPOSITORY } from '@sandyard/runtime-docker/labels'
import { sql } from 'kysely'
import type { Facts } from './facts.ts'
import { Unreadable } from './unreadable.ts'

export interface OwnImage {
  readonly id: string
  readonly name: string
  readonly createdAtMs: number
}

/** The images of this installation: templates, layers, snapshots, pulled ones. @throws Unreadable */
export async function listOwnImages({ engine }: Facts, installation: string): Promise<OwnImage[]> {
  const filters = imageFilter(installation, [SNAPSHOT_REPOSITORY, KEPT_REPOSITORY, REMOVED_REPOSITORY])
  const images = await engine.read('the images', (docker) => docker.listImages({ filters }))
  return images.flatMap(({ Id, RepoTags, Created }) => (RepoTags ?? []).map((name) => ({ id: Id, name, createdAtMs: Created * 1000 })))
}

/** The names that no build, snapshot and layer refers to. @throws Unreadable */
export async function findUnnamed({ database }: Facts, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await database.read((db) =>
    sql<{ image: string }>`
      select image from unnest(${names}::text[]) as candidate (image)
      where not exists (select from build_layer where build_layer.image = candidate.image)
      and not exists (select from build where build.image = candidate.image or build.snapshot ->> 'image' = candidate.image)
    `.execute(db),
  )
  return new Set(rows.map(({ image }) => image))
}

/** The id that labels the objects of this installation. @throws Unreadable before the first start of a server */
export async function requireInstallation({ database }: Facts): Promise<string> {
  const installation = await database.installation()
  if (installation === undefined) throw new Unreadable('no server has used this database yet')
  return installation
}
