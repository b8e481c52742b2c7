/**
 * The library of Jupyter asks a kernel that starts again for its info, and nobody handles the failure when the kernel ends before it answers:
 * that must not end the server. Other rejections that nobody handles do.
 */
export function ignoreCanceledFutures(): void {
  process.on('unhandledRejection', (err) => {
    if (!(err instanceof Error && err.message.startsWith('Canceled future'))) throw err
  })
}
