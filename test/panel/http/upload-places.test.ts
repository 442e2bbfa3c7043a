import { expect, it } from 'vitest';
import { UploadPlaces } from '#panel/http/upload-places.ts';

const ann = { accountId: 1, username: 'ann' };
const bob = { accountId: 2, username: 'bob' };
const cid = { accountId: 3, username: 'cid' };
const refused = (detail: unknown) => expect.objectContaining({ key: 'upload.busy', details: { detail } });

/** Takes a place for each sender in turn; gives the free functions back. */
const take = (places: UploadPlaces, ...senders: readonly (typeof ann)[]) => senders.map((one) => places.take(one));

it('an account has its own bound', () => {
  const places = new UploadPlaces({ most: 4, mostOfAnAccount: 2 });
  take(places, ann, ann);
  expect(() => places.take(ann)).toThrow(refused('yours: 2'));
});

it.each([[[ann, ann, bob]], [[ann, bob, ann]]])('two accounts leave one for a third: %#', (senders) => {
  const places = new UploadPlaces({ most: 4, mostOfAnAccount: 2 });
  take(places, ...senders);
  expect(() => places.take(bob)).toThrow(refused('of ann, bob'));
  take(places, cid);
  expect(() => places.take({ accountId: 4, username: 'dan' })).toThrow(refused('of ann, bob, cid'));
});

it('a freed place is taken again, and freed once', () => {
  const places = new UploadPlaces({ most: 4, mostOfAnAccount: 1 });
  const [free = () => {}] = take(places, ann);
  expect(() => places.take(ann)).toThrow(refused('yours: 1'));
  free();
  take(places, ann);
  free();
  expect(() => places.take(ann)).toThrow(refused('yours: 1'));
});
