import type { ImageRef, SandboxRef } from './types.ts'

/** Who may pull from a private registry (control-plane.md 10.5). Used for the one pull and kept nowhere. */
export type RegistryCredentials =
  | { readonly type: 'registry'; readonly username: string; readonly password: string }
  | { readonly type: 'aws'; readonly awsAccessKeyId: string; readonly awsSecretAccessKey: string; readonly awsRegion: string }
  | { readonly type: 'gcp'; readonly serviceAccountJson: string }

/** An image that is there, and what it says of the processes that run in it. */
export interface ImageFacts {
  readonly image: ImageRef
  readonly env: Readonly<Record<string, string>>
  /** Undefined where the image names none. Of a snapshot of such an image it may be `/`. */
  readonly workdir: string | undefined
  /** A name or number, perhaps with `:group`; undefined where the image names none. Of a snapshot of such an image it may be `0:0`. */
  readonly user: string | undefined
  /** Of all its layers, unpacked. */
  readonly sizeBytes: number
}

export interface PullRequest {
  /** As a Dockerfile's FROM has it: `debian:bookworm-slim`, `registry.example:5000/team/app@sha256:...`. Ids of images are none. */
  readonly reference: string
  readonly credentials?: RegistryCredentials | undefined
  /** Told of what the engine says, line by line. */
  readonly onLine?: (line: string) => void
}

export interface DockerfileRequest {
  readonly dockerfile: string
  /**
   * A running sandbox of this runtime whose network and limits the steps share. It has to stay until the promise has settled, which
   * is after the last of the steps has ended.
   */
  readonly within: SandboxRef
  /** Ignores what the runtime has kept of earlier builds. A runtime that keeps nothing of them does so anyway. */
  readonly force: boolean
  /** Told of every instruction as `Step 1/3 : FROM debian`, and of what the steps print, line by line. */
  readonly onLine?: (line: string) => void
}

/** An image that this installation keeps: a snapshot, a layer, the result of a pull or of a Dockerfile. */
export interface KeptImage {
  readonly image: ImageRef
  /** When this installation began to keep it, not when somebody built it. */
  readonly createdAt: Date
}

/**
 * Where images come from. Those that it makes have a name of this installation's, each time a new one, and stay until `remove`. Those
 * that were on the engine already are used under their own names and never touched. A name of an installation is known to who
 * was given it only: no reference of a user leads to it.
 */
export interface ImageStore {
  /**
   * Brings an image. With credentials the registry is always asked, and what comes is under a name that nobody else is given. Without,
   * an image that the engine has under this name is used as it is, unless it came with somebody's credentials.
   *
   * @throws AppError `not_found` and `permission_denied` with the texts of control-plane.md 11.9, `invalid_argument` for what is no
   * reference or no credentials, `failed_precondition` for an image that is too large or for another processor, `unavailable` when the
   * registry does not answer in time; the abort reason
   */
  pull(request: PullRequest, signal?: AbortSignal): Promise<ImageFacts>

  /**
   * Builds a Dockerfile that copies nothing from a context, within the egress rules and the limits of the sandbox that it names. What
   * FROM and COPY --from name is found as by `pull` without credentials. On failure or abort no step and no image is left.
   *
   * @throws AppError `failed_precondition` with the failing instruction, or for a sandbox that does not run; as `pull` for the images that
   * it names; `not_found` for an absent sandbox; the abort reason
   */
  buildDockerfile(request: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts>

  /** @throws AppError `not_found` */
  inspect(image: ImageRef): Promise<ImageFacts>

  /** Everything that this installation keeps; at any moment this holds images that nothing refers to yet. */
  list(): Promise<KeptImage[]>

  /**
   * Gives an image of this installation up: nothing starts from it any more. Its files go when no sandbox runs from it and no other
   * image is built upon it. Absent, and not ours, is success.
   */
  remove(image: ImageRef): Promise<void>
}
