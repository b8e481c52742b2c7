import type Docker from 'dockerode'
import type { ContainerInspectInfo, ImageInspectInfo } from 'dockerode'
import { unlessStatus } from '../engine/docker-errors.ts'
import { LABEL, type Labels } from '../labels.ts'

export interface FilesCommit {
  readonly installation: string
  /** Of the image, beside its installation. The labels of the sandbox that are its identity are emptied. */
  readonly labels: Labels
  /** The name of the image; without it the image has none. */
  readonly image?: string
}

/** Stores the files of a container, whose processes do not run, as an image with the settings of the image that it was created from. Returns the image's id. */
export async function commitFiles(
  docker: Docker,
  found: ContainerInspectInfo,
  { installation, labels, image }: FilesCommit,
): Promise<string> {
  const source = await unlessStatus(404, () => docker.getImage(found.Image).inspect())
  const [repo, tag] = image?.split(':') ?? []
  const identity = { [LABEL.sandboxId]: '', [LABEL.incarnation]: '', [LABEL.build]: '', [LABEL.sizeBytes]: '', [LABEL.snapshot]: '' }
  const committed = (await docker.getContainer(found.Id).commit({
    _query: { container: found.Id, ...(image === undefined ? {} : { repo, tag }), pause: false },
    _body: { ...settingsOf(found, source), Labels: { ...identity, [LABEL.installation]: installation, ...labels } },
  })) as { readonly Id: string }
  return committed.Id
}

/**
 * The settings of the image that the sandbox was created from, without the settings of the sandbox. If none are given, the engine uses the
 * settings of the container. A commit cannot remove a variable from an image, so the variables of the daemon are listed without a
 * value, which removes them from every container.
 */
function settingsOf({ Config }: ContainerInspectInfo, source: ImageInspectInfo | undefined): object {
  const kept = source?.Config.Env ?? Config.Env.filter((entry) => !entry.startsWith('SANDYARD_'))
  const entries = new Map(kept.map((entry) => [nameOf(entry), entry]))
  return {
    Entrypoint: [],
    Env: Config.Env.map((entry) => entries.get(nameOf(entry)) ?? nameOf(entry)),
    User: source?.Config.User ?? '',
    WorkingDir: source?.Config.WorkingDir ?? '',
  }
}

function nameOf(entry: string): string {
  return entry.split('=', 1)[0] ?? ''
}
