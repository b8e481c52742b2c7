import type { ImageRef, SandboxRef } from './types.ts'

/** Credentials of a private registry (control-plane.md 10.5). They are used for one pull and never stored. */
export type RegistryCredentials =
  | { readonly type: 'registry'; readonly username: string; readonly password: string }
  | { readonly type: 'aws'; readonly awsAccessKeyId: string; readonly awsSecretAccessKey: string; readonly awsRegion: string }
  | { readonly type: 'gcp'; readonly serviceAccountJson: string }

/** An image that exists, and its settings for the processes in it. */
export interface ImageFacts {
  readonly image: ImageRef
  readonly env: Readonly<Record<string, string>>
  /** Undefined when the image does not set it. It may be `/` for a snapshot of such an image. */
  readonly workdir: string | undefined
  /** A name or number, with an optional `:group`. Undefined when the image does not set it. It may be `0:0` for a snapshot of such an image. */
  readonly user: string | undefined
  /** The unpacked size of all layers. */
  readonly sizeBytes: number
}

export interface PullRequest {
  /** As a Dockerfile's FROM has it: `debian:bookworm-slim`, `registry.example:5000/team/app@sha256:...`. Ids of images are none. */
  readonly reference: string
  readonly credentials?: RegistryCredentials | undefined
  /** Receives the output of the engine, line by line. */
  readonly onLine?: (line: string) => void
}

export interface DockerfileRequest {
  readonly dockerfile: string
  /**
   * A running sandbox of this runtime. The steps share its network and its limits. It must run until the promise settles, which is after
   * the last step has ended.
   */
  readonly within: SandboxRef
  /** Ignores the cache of earlier builds. A runtime without a cache always does so. */
  readonly force: boolean
  /** Receives every instruction as `Step 1/3 : FROM debian`, and the output of the steps, line by line. */
  readonly onLine?: (line: string) => void
}

/** An image that this installation stores: a snapshot, a layer, the result of a pull or of a Dockerfile. */
export interface KeptImage {
  readonly image: ImageRef
  /** When this installation stored it, not when the image was built. */
  readonly createdAt: Date
}

/**
 * The source of images. Images that the store creates get a new name of this installation each time and exist until `remove`. Images that
 * were on the engine before keep their own names and are never changed. Users cannot reach the images of an installation by a reference:
 * only callers that received such a name can use it.
 */
export interface ImageStore {
  /**
   * Provides an image. With credentials the registry is always asked, and the image gets a name that no other caller receives. Without
   * credentials an image of this name on the engine is used as it is, unless it was pulled with credentials.
   *
   * @throws AppError `not_found` and `permission_denied` with the texts of control-plane.md 11.9, `invalid_argument` for an invalid
   * reference or invalid credentials, `failed_precondition` for an image that is too large or for another processor, `unavailable` when
   * the registry does not answer in time; the abort reason
   */
  pull(request: PullRequest, signal?: AbortSignal): Promise<ImageFacts>

  /**
   * Builds a Dockerfile without a context, under the egress rules and the limits of the named sandbox. Images of FROM and COPY --from are
   * found as by `pull` without credentials. After a failure or an abort no step and no image is left.
   *
   * @throws AppError `failed_precondition` with the failing instruction, or when the sandbox does not run; the errors of `pull` for the
   * named images; `not_found` for an absent sandbox; the abort reason
   */
  buildDockerfile(request: DockerfileRequest, signal?: AbortSignal): Promise<ImageFacts>

  /** @throws AppError `not_found` */
  inspect(image: ImageRef): Promise<ImageFacts>

  /** All images of this installation. The list can contain images that nothing refers to yet. */
  list(): Promise<KeptImage[]>

  /**
   * Removes an image of this installation: no new sandbox starts from it. Its files are deleted when no sandbox runs from it and no other
   * image is built on it. An absent image, or an image that is not ours, is success.
   */
  remove(image: ImageRef): Promise<void>
}
