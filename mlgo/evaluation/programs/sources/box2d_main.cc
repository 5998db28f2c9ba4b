// Lets a pyramid of boxes, a chain of linked bodies and some circles fall, and prints where they are: the same on every compiler,
// since nothing here lets one contract or reorder floating-point operations.
#include <cstdio>
#include <cstdlib>

#include "box2d/box2d.h"

namespace {

b2Body* AddBody(b2World& world, b2BodyType type, float x, float y, const b2Shape& shape) {
  b2BodyDef definition;
  definition.type = type;
  definition.position.Set(x, y);
  b2Body* body = world.CreateBody(&definition);
  b2FixtureDef fixture;
  fixture.shape = &shape;
  fixture.density = 2.0f;
  fixture.friction = 0.4f;
  fixture.restitution = 0.2f;
  body->CreateFixture(&fixture);
  return body;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  b2World world(b2Vec2(0.0f, -10.0f));
  b2EdgeShape floor;
  floor.SetTwoSided(b2Vec2(-60.0f, 0.0f), b2Vec2(60.0f, 0.0f));
  AddBody(world, b2_staticBody, 0.0f, 0.0f, floor);

  b2PolygonShape box;
  box.SetAsBox(0.5f, 0.5f);
  b2CircleShape ball;
  ball.m_radius = 0.6f;
  for (int row = 0; row < 10; ++row) {
    for (int column = row; column < 10; ++column) {
      AddBody(world, b2_dynamicBody, -7.0f + 0.56f * row + 1.12f * (column - row), 0.75f + 1.25f * row, box);
    }
  }
  for (int index = 0; index < 12; ++index) AddBody(world, b2_dynamicBody, 14.0f + 0.3f * index, 3.0f + 1.5f * index, ball);

  b2Body* previous = AddBody(world, b2_staticBody, -20.0f, 20.0f, box);
  for (int index = 0; index < 14; ++index) {
    b2Body* link = AddBody(world, b2_dynamicBody, -19.0f + index, 20.0f, box);
    b2RevoluteJointDef joint;
    joint.Initialize(previous, link, b2Vec2(-19.5f + index, 20.0f));
    world.CreateJoint(&joint);
    previous = link;
  }
  for (int step = 0; step < steps; ++step) {
    world.Step(1.0f / 60.0f, 8, 3);
    if (step % 50 == 49) std::printf("step %d: %d contacts, last link at %.6f %.6f\n", step + 1, world.GetContactCount(),
                                     previous->GetPosition().x, previous->GetPosition().y);
  }
  int index = 0;
  for (const b2Body* body = world.GetBodyList(); body != nullptr; body = body->GetNext()) {
    if (index++ % 7 == 0) std::printf("%d: %.6f %.6f %.6f\n", index, body->GetPosition().x, body->GetPosition().y, body->GetAngle());
  }
  return 0;
}
