/** The texts of the parts of lists and forms. */
export const partTexts = {
  loading: 'Loading',
  more: 'Load more',
  cancel: 'Cancel',
  close: 'Close',
}
