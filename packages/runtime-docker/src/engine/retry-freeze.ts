const TRIES = 5
/** A busy host with cgroup v1, while processes in the container start others (opencontainers/runc#2774). The container runs on. */
const UNABLE = /unable to freeze/

/** Runs a request for which the engine freezes a container, again if the kernel could not freeze it at that moment. */
export async function retryFreeze<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call()
    } catch (err) {
      if (tries === TRIES || !(err instanceof Error) || !UNABLE.test(err.message)) throw err
    }
  }
}
