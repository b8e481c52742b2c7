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
  /** Undefined where the image names none. */
  readonly workdir: string | undefined
  readonly user: string | undefined
  /** Of all its layers, unpacked. */
  readonly sizeBytes: number
}

export interface PullRequest {
  /** As a Dockerfile's FROM has it: `debian:bookworm-slim`, `registry.example:5000/team/app@sha256:...`. */
  readonly reference: string
  readonly credentials?: RegistryCredentials | undefined
  /** Told of what the engine says, line by line. */
  readonly onLine?: (line: string) => void
}

export interface DockerfileRequest {
  readonly dockerfile: string
  /** A running sandbox of this runtime whose network and limits the steps share; it has to stay until the build has ended. */
  readonly within: SandboxRef
  /** Ignores what the engine has kept of earlier builds. */
  readonly force: boolean
  /** Told of what the engine and the steps print, line by line. */
  readonly onLine?: (line: string) => void
}

/** An image that this installation keeps: a snapshot, a layer, the result of a pull or of a Dockerfile. */
export interface KeptImage {
  readonly image: ImageRef
  readonly createdAt: Date
}

/**
 * Where images come from. Images that it makes carry a name of this installation's and stay until `remove`; those that were on the
 * engine already are used under their own names and never touched.
 */
export interface ImageStore {
  /**
   * Brings an image. With credentials the registry is always asked, and what comes is under a name that nobody else is given.
   * Without, an image that the engine has under this name is used as it is.
   *
   * @throws AppError `not_found` and `permission_denied` with the texts of control-plane.md 11.9, `invalid_argument` for what is no
   * reference, `unavailable` when the registry cannot be reached; the abort reason
   */
  pull(request: PullRequest, signal?: AbortSignal): Promise<ImageFacts>

  /**
   * Builds a Dockerfile that copies nothing from a context, with the egress rules of the sandbox that it names.
   *
   * @throws AppError `failed_precondition` with the failing instruction; the abort reason
   */
  buildDockerfile(request: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts>

  /** @throws AppError `not_found` */
  inspect(image: ImageRef): Promise<ImageFacts>

  /** Everything that this installation keeps. */
  list(): Promise<KeptImage[]>

  /** Gives an image of this installation up; one that sandboxes run from goes when they do. Absent, and not ours, is success. */
  remove(image: ImageRef): Promise<void>
}
