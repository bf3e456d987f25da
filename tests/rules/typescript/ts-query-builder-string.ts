export class UserRepository {
  find(name: string, order: string) {
    return this.users
      .createQueryBuilder("user")
      .where(`user.name = '${name}'`) // expect
      .andWhere("user.city = '" + order + "'") // expect
      .orWhere(`user.mail LIKE '%${name}%'`) // expect
      .getMany();
  }

  safe(name: string) {
    return this.users
      .createQueryBuilder("user")
      .where("user.name = :name", { name }) // ok: a parameter
      .andWhere(`user.state = ${ACTIVE}`) // ok: a constant
      .getMany();
  }

  other(items: Basket) {
    return items.only(`name = ${items.name}`).sum(); // ok: no database
  }
}
